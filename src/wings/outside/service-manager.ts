import { existsSync } from 'node:fs';
import { systemCode } from '../../cluster/cluster-error.ts';
import { CommandError } from '../../commands/command-error.ts';
import { runProgramToEnd } from '../../linux/run-program.ts';
import { THIS_MACHINE } from './paths.ts';

/** The part of systemd that is used. */
export interface ServiceManager {
  reload(): Promise<void>;
  enable(unit: string): Promise<void>;
  /** Returns before the unit is ready. */
  start(unit: string): Promise<void>;
  /** Waits until it is ready. */
  startAndWait(unit: string): Promise<void>;
  restart(unit: string): Promise<void>;
  isActive(unit: string): Promise<boolean>;
  /** Waits until it has ended. A unit that does not exist is no error. */
  stop(unit: string): Promise<void>;
  disable(unit: string): Promise<void>;
}

const RUNNING_MARK = '/run/systemd/system';
const TIMEOUT_MS = 90_000;

/** Undefined: systemd does not run this machine, or the files are for another one. */
export function serviceManagerOf(root: string): ServiceManager | undefined {
  return root === THIS_MACHINE && existsSync(RUNNING_MARK) ? systemd : undefined;
}

const systemd: ServiceManager = {
  reload: () => mustRun(['daemon-reload']),
  enable: (unit) => mustRun(['enable', '--quiet', unit]),
  start: (unit) => mustRun(['start', '--no-block', unit]),
  startAndWait: (unit) => mustRun(['start', unit]),
  restart: (unit) => mustRun(['restart', '--no-block', unit]),
  isActive: async (unit) => (await run(['is-active', '--quiet', unit])) === 0,
  stop: async (unit) => {
    if ((await run(['cat', '--no-pager', unit])) === 0) await mustRun(['stop', unit]);
  },
  disable: async (unit) => {
    if ((await run(['cat', '--no-pager', unit])) === 0) await mustRun(['disable', '--quiet', unit]);
  },
};

async function mustRun(args: readonly string[]): Promise<void> {
  const exitCode = await run(args);
  if (exitCode === 0) return;
  throw new CommandError(`systemctl ${args.join(' ')} failed (${exitCode ?? 'killed'})`, {
    code: 'SYSTEMD_FAILED',
    next: 'see its message above; `journalctl -u fairlead -n 20` has the log of the service',
  });
}

async function run(args: readonly string[]): Promise<number | null> {
  try {
    const call = { command: 'systemctl', args, env: {}, timeoutMs: TIMEOUT_MS };
    return (await runProgramToEnd(call)).exitCode;
  } catch (error) {
    throw new CommandError(`systemctl cannot be started: ${systemCode(error) ?? 'unknown'}`, {
      code: 'SYSTEMD_FAILED',
      next: 'check that systemctl is in PATH',
      cause: error,
    });
  }
}
