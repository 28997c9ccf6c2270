import { getSystemErrorName } from 'node:util';

/** A request to the kernel failed. `errno` is positive; `code` is its name, such as ENOENT. */
export class NetlinkError extends Error {
  override readonly name = 'NetlinkError';
  readonly errno: number;
  readonly code: string;
  /** The operation, as text. */
  readonly operation: string;
  /** The kernel's extended error message, if there is one. */
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

/** The kernel answered with an error. */
export class NetlinkRejection extends NetlinkError {}

function errnoName(errno: number): string {
  try {
    return getSystemErrorName(-errno);
  } catch (error) {
    // Numbers that libuv has no name for are still numbers of the kernel.
    if (error instanceof RangeError || error instanceof TypeError) return `errno ${errno}`;
    throw error;
  }
}
