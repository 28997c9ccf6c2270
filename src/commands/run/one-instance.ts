import { closeSync, constants, fstatSync, mkdirSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { RUN_FOLDER, RUN_LOCK } from '../../config/run-folder.ts';
import { type LockAttempt, lockByte, lockHolder } from '../../linux/process-lock.ts';
import type { Logger } from '../../log/logger.ts';
import { sleep } from '../../time/sleep.ts';
import { ALREADY_RUNNING_EXIT, CommandError } from '../command-error.ts';

export interface OneInstanceOptions {
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** Where the lock is if the machine's own folder cannot be written to. */
  readonly runFolder: string;
  /** The machine's own folder; given by tests. */
  readonly machineFolder?: string;
  readonly waitMs?: number;
}

/** The right to serve this network namespace. */
export interface OnlyInstance {
  /** Lets another instance in. Otherwise the end of this process does. */
  leave(): void;
}

/** Longer than the termination grace period in the manifests, which is ten seconds. */
const WAIT_MS = 30_000;
const POLL_MS = 200;
const FOLDER_MODE = 0o755;
const FILE_MODE = 0o600;
const OPEN_FLAGS = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW;

/**
 * Waits until no other `fairlead run` serves this network namespace, and keeps others out until this
 * process ends or leaves (docs/decisions/0025-one-instance.md). Undefined: the signal came first.
 */
export async function becomeOnlyInstance(
  options: OneInstanceOptions,
  signal: AbortSignal,
): Promise<OnlyInstance | undefined> {
  const { log, waitMs = WAIT_MS } = options;
  const fd = openLock(options);
  if (fd === undefined) return { leave: () => undefined };
  const byte = networkNamespaceNumber();
  const deadlineMs = performance.now() + waitMs;
  let attempt = lockByte(fd, byte);
  if (!attempt.isHeld) {
    const seconds = Math.round(waitMs / 1000);
    log.info(
      { ...(attempt.pid === 0 ? {} : { holder: attempt.pid }), seconds },
      'another fairlead serves this network namespace; waiting for it to end',
    );
  }
  while (!attempt.isHeld) {
    if (performance.now() >= deadlineMs) throw alreadyRunning(attempt, waitMs);
    await sleep(POLL_MS, signal);
    if (signal.aborted) return undefined;
    attempt = lockByte(fd, byte);
  }
  // Closing a file releases all locks of the process on it.
  return { leave: () => closeSync(fd) };
}

/** The one that serves this network namespace, in words; undefined: none that can be seen from here. */
export function runningInstance({
  runFolder,
  machineFolder = RUN_FOLDER,
}: Pick<OneInstanceOptions, 'runFolder' | 'machineFolder'>): string | undefined {
  for (const folder of new Set([machineFolder, runFolder])) {
    const fd = openForReading(join(folder, RUN_LOCK));
    if (fd === undefined) continue;
    try {
      const holder = lockHolder(fd, networkNamespaceNumber());
      if (holder) return holder.pid === 0 ? 'in another container' : `pid ${holder.pid}`;
    } finally {
      closeSync(fd);
    }
  }
  return undefined;
}

/** Undefined: there is none, or it may not be read. */
function openForReading(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return undefined;
  }
}

function alreadyRunning(
  { pid }: Extract<LockAttempt, { isHeld: false }>,
  waitMs: number,
): CommandError {
  const who = pid === 0 ? 'in another container' : `pid ${pid}`;
  return new CommandError(`another fairlead (${who}) serves this network namespace`, {
    code: 'ALREADY_RUNNING',
    exitCode: ALREADY_RUNNING_EXIT,
    next: `it did not exit within ${waitMs / 1000} s; stop it first (its DaemonSet, or systemctl stop fairlead)`,
  });
}

/** The descriptor of a file that only this user can open; undefined where there is no place for one. */
function openLock(options: OneInstanceOptions): number | undefined {
  const { log, runFolder, machineFolder = RUN_FOLDER } = options;
  const failures: string[] = [];
  for (const folder of new Set([machineFolder, runFolder])) {
    const path = join(folder, RUN_LOCK);
    const opened = openOwn(path, folder);
    if (typeof opened === 'number') return opened;
    failures.push(`${path}: ${opened}`);
  }
  log.warn(
    { code: 'RUN_LOCK_UNAVAILABLE', failures },
    `cannot detect a second fairlead in this network namespace; mount ${machineFolder} of the machine, as deploy/manifests does`,
  );
  return undefined;
}

function openOwn(path: string, folder: string): number | string {
  let fd: number;
  try {
    mkdirSync(folder, { recursive: true, mode: FOLDER_MODE });
    fd = openSync(path, OPEN_FLAGS, FILE_MODE);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return code;
  }
  // In a folder that other users can write to, one of them could create the file and hold the lock.
  if (fstatSync(fd).uid === process.geteuid?.()) return fd;
  closeSync(fd);
  return 'belongs to another user';
}

/** Unique among those that exist: the holder of a lock keeps its own alive. */
function networkNamespaceNumber(): number {
  return statSync('/proc/self/ns/net').ino;
}
