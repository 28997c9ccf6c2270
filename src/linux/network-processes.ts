import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { systemCode } from './sysctl-error.ts';

export interface NetworkProcess {
  readonly pid: number;
  /** As /proc/PID/comm has it: at most 15 characters. */
  readonly name: string;
}

const PROCESSES = '/proc';

/**
 * Processes of our network namespace, as far as they can be seen: in a container only with the
 * process ids of the machine (hostPID).
 */
export function networkProcesses(): readonly NetworkProcess[] {
  const own = readlinkSync(join(PROCESSES, 'thread-self/ns/net'));
  return readdirSync(PROCESSES).flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    if (unlessGone(() => readlinkSync(join(PROCESSES, pid, 'ns/net'))) !== own) return [];
    const name = unlessGone(() => readFileSync(join(PROCESSES, pid, 'comm'), 'utf8'));
    return name === undefined ? [] : [{ pid: Number(pid), name: name.trim() }];
  });
}

const GONE = new Set(['ENOENT', 'ESRCH', 'EACCES', 'EPERM']);

/** Processes end while they are listed; those of others hide their namespaces. */
function unlessGone<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (GONE.has(systemCode(error) ?? '')) return undefined;
    throw error;
  }
}
