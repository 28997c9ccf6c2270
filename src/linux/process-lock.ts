import { constants } from 'node:os';
import koffi from 'koffi';

const libc = koffi.load('libc.so.6');
const fcntl: (fd: number, command: number, lock: Uint8Array) => number = libc.func(
  'int fcntl(int fd, int command, void *lock)',
);

/** fcntl.h, on machines of 64 bits. */
const F_GETLK = 5;
const F_SETLK = 6;
const F_WRLCK = 1;
const F_UNLCK = 2;
const FLOCK_BYTES = 32;
const START_OFFSET = 8;
const LENGTH_OFFSET = 16;
const PID_OFFSET = 24;
const { EACCES, EAGAIN } = constants.errno;

/** `pid`: the holder as this process sees it; 0 if it is in a PID namespace that it cannot see. */
export type LockAttempt =
  | { readonly isHeld: true }
  | { readonly isHeld: false; readonly pid: number };

/**
 * Locks one byte of an open file for this process, or returns the process that holds it. The kernel
 * releases the lock when the process ends or closes any descriptor of the file: keep it open.
 * Children do not inherit it.
 */
export function lockByte(fd: number, byte: number): LockAttempt {
  const lock = wanted(byte);
  if (fcntl(fd, F_SETLK, lock) === 0) return { isHeld: true };
  const errno = koffi.errno();
  if (errno !== EACCES && errno !== EAGAIN) throw new LockError(errno);
  const holder = wanted(byte);
  if (fcntl(fd, F_GETLK, holder) !== 0) throw new LockError(koffi.errno());
  // Released in between: the next attempt gets it.
  const isFree = holder.readInt16LE(0) === F_UNLCK;
  return { isHeld: false, pid: isFree ? 0 : holder.readInt32LE(PID_OFFSET) };
}

/** Which process has locked the byte; undefined: none. */
export function lockHolder(fd: number, byte: number): { readonly pid: number } | undefined {
  const holder = wanted(byte);
  if (fcntl(fd, F_GETLK, holder) !== 0) throw new LockError(koffi.errno());
  const isFree = holder.readInt16LE(0) === F_UNLCK;
  return isFree ? undefined : { pid: holder.readInt32LE(PID_OFFSET) };
}

class LockError extends Error {
  override readonly name = 'LockError';
  readonly errno: number;

  constructor(errno: number) {
    super(`cannot lock the file (fcntl): errno ${errno}`);
    this.errno = errno;
  }
}

function wanted(byte: number): Buffer {
  const lock = Buffer.alloc(FLOCK_BYTES);
  lock.writeInt16LE(F_WRLCK, 0);
  lock.writeBigInt64LE(BigInt(byte), START_OFFSET);
  lock.writeBigInt64LE(1n, LENGTH_OFFSET);
  return lock;
}
