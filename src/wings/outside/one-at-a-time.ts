import { closeSync, constants, fstatSync, openSync, rmSync, statSync } from 'node:fs';
import { systemCode } from '../../cluster/cluster-error.ts';
import { CommandError } from '../../commands/command-error.ts';
import { lockByte } from '../../linux/process-lock.ts';
import { THIS_MACHINE } from './paths.ts';

/** Only root can make files there. */
const LOCK_FILE = '/run/fairlead-outside.lock';
const FILE_MODE = 0o600;
const OPEN_FLAGS = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW;
/** Holders that end just when this process opens their file. */
const MOST_ATTEMPTS = 10;

/**
 * Keeps other commands that change this machine out until the work has ended: each reads the record,
 * and writes it again with its own changes. A lock of a process that was killed is free.
 */
export async function oneAtATime<T>(
  root: string,
  work: () => Promise<T>,
  lockFile = LOCK_FILE,
): Promise<T> {
  if (root !== THIS_MACHINE || process.geteuid?.() !== 0) return await work();
  const fd = lock(lockFile);
  try {
    return await work();
  } finally {
    rmSync(lockFile, { force: true });
    closeSync(fd);
  }
}

function lock(path: string): number {
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    const fd = openSync(path, OPEN_FLAGS, FILE_MODE);
    const locked = lockByte(fd, 0);
    if (locked.isHeld && isStillAt(path, fd)) return fd;
    closeSync(fd);
    if (!locked.isHeld) throw busy(locked.pid);
  }
  throw busy(0);
}

/** The holder before deletes the file: a lock of a deleted one keeps nobody out. */
function isStillAt(path: string, fd: number): boolean {
  try {
    return statSync(path).ino === fstatSync(fd).ino;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return false;
    throw error;
  }
}

function busy(pid: number): CommandError {
  const who = pid === 0 ? '' : ` (pid ${pid})`;
  return new CommandError(`another fairlead outside${who} is changing this machine`, {
    code: 'OUTSIDE_BUSY',
    next: 'wait until it has ended, and run the command again; nothing was changed',
  });
}
