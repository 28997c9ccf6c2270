import { SocketError } from './socket-error.ts';
import { close, errno } from './socket-libc.ts';

export function closeDescriptor(fd: number): void {
  if (close(fd) < 0) throw new SocketError('close a descriptor', errno());
}

/** The result of a call that returns a descriptor or a length. */
export function orThrow(result: number, operation: string): number {
  if (result >= 0) return result;
  throw new SocketError(operation, errno());
}

/** Prepares a new descriptor; closes it if that fails. */
export function closedOnError<T>(fd: number, prepare: () => T): T {
  try {
    return prepare();
  } catch (error) {
    close(fd);
    throw error;
  }
}
