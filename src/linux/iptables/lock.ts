import { readFileSync } from 'node:fs';

const PATH = '/proc/locks';

/** Whether a process stands in line for a file lock that another one has. */
export function waitsForLock(processId: number): boolean {
  return isWaiter(readFileSync(PATH, 'utf8'), processId);
}

/** Waiters are listed with an arrow: `1: -> FLOCK  ADVISORY  WRITE 4711 fe:00:123 0 EOF`. */
export function isWaiter(locks: string, processId: number): boolean {
  return locks.split('\n').some((line) => {
    const [, arrow, kind, , , owner] = line.trim().split(/\s+/);
    return arrow === '->' && kind === 'FLOCK' && owner === String(processId);
  });
}
