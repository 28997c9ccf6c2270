import { getSystemErrorName } from 'node:util';

/** What was asked of the kernel went wrong. `errno` is positive; `code` is its name, such as ENOENT. */
export class NetlinkError extends Error {
  override readonly name = 'NetlinkError';
  readonly errno: number;
  readonly code: string;
  /** The operation, as text. */
  readonly operation: string;
  /** What the kernel said beyond the number, if it did. */
  readonly detail: string | undefined;

  constructor(operation: string, about: { readonly errno: number; readonly detail?: string }) {
    const code = errnoName(about.errno);
    super(`${operation}: ${code}${about.detail ? ` (${about.detail})` : ''}`);
    this.operation = operation;
    this.errno = about.errno;
    this.code = code;
    this.detail = about.detail;
  }
}

/** The kernel answered, and said no. */
export class NetlinkRefusal extends NetlinkError {}

function errnoName(errno: number): string {
  try {
    return getSystemErrorName(-errno);
  } catch (error) {
    // Numbers that libuv has no name for are still numbers of the kernel.
    if (error instanceof RangeError || error instanceof TypeError) return `errno ${errno}`;
    throw error;
  }
}
