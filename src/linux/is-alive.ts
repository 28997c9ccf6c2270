import { systemCode } from './sysctl-error.ts';

/** Whether a process has this id, also one of another user. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return systemCode(error) !== 'ESRCH';
  }
}
