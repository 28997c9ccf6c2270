import { getSystemErrorName } from 'node:util';

/** A call on a socket failed. `errno` is positive; `code` is its name, such as ECONNREFUSED. */
export class SocketError extends Error {
  override readonly name = 'SocketError';
  readonly errno: number;
  readonly code: string;
  readonly operation: string;

  constructor(operation: string, errno: number) {
    const code = getSystemErrorName(-errno);
    super(`cannot ${operation}: ${code}`);
    this.operation = operation;
    this.errno = errno;
    this.code = code;
  }
}
