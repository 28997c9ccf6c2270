import { constants, fstatSync, openSync, type Stats, writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import { getSystemErrorName } from 'node:util';
import koffi from 'koffi';

/** How many bytes were taken, which may be fewer than given, or the name of the error. */
export type WriteResult = { readonly writtenBytes: number } | { readonly code: string };

/** A descriptor that others may share, written to without ever waiting for its reader. */
export interface UnblockedOutput {
  /** Error `EAGAIN`: there is no room now. */
  write(bytes: Uint8Array): WriteResult;
}

type Send = (...args: [fd: number, bytes: Uint8Array, size: number, flags: number]) => number;

const MSG_DONTWAIT = 0x40;
const MSG_NOSIGNAL = 0x4000;
const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants;

/**
 * O_NONBLOCK belongs to the open file description, which a terminal's shell or the other programs of
 * a pipe share: setting it would break their writes, and they may clear it at any time. So
 * - a pipe or terminal is opened again, by its entry in /proc, and only that description gets it;
 * - a socket, such as journald's, is written to by send(2), which has a flag for it;
 * - a file is written to as it is: O_NONBLOCK has no effect, and a second description would have an
 *   offset of its own and overwrite what Node itself writes.
 * A write to a file on a network file system that is away still blocks; nothing but a thread of its
 * own would help, and that thread could not be ended.
 */
export function openUnblocked(fd: number): UnblockedOutput {
  const stats = fstatSync(fd);
  if (stats.isSocket()) return socketOutput(fd);
  return fileOutput(canStall(fd, stats) ? openedAnew(fd) : fd);
}

function canStall(fd: number, stats: Stats): boolean {
  return stats.isFIFO() || isatty(fd);
}

/** The descriptor itself where reopening is not allowed, or where the pipe has no reader. */
function openedAnew(fd: number): number {
  try {
    return openSync(`/proc/self/fd/${fd}`, O_WRONLY | O_NONBLOCK | O_NOCTTY);
  } catch {
    return fd;
  }
}

function fileOutput(fd: number): UnblockedOutput {
  return {
    write: (bytes) => {
      try {
        return { writtenBytes: writeSync(fd, bytes) };
      } catch (error) {
        return { code: (error as NodeJS.ErrnoException).code ?? 'EIO' };
      }
    },
  };
}

function socketOutput(fd: number): UnblockedOutput {
  const libc = koffi.load('libc.so.6');
  const send = libc.func(
    'long send(int fd, void *bytes, unsigned long size, int flags)',
  ) as unknown as Send;
  return {
    write: (bytes) => {
      const writtenBytes = send(fd, bytes, bytes.length, MSG_DONTWAIT | MSG_NOSIGNAL);
      if (writtenBytes >= 0) return { writtenBytes };
      return { code: getSystemErrorName(-koffi.errno()) };
    },
  };
}
