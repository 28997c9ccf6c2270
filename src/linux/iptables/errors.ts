export type IptablesErrorCode =
  /** The program is not there, or could not be started. */
  | 'IPTABLES_MISSING'
  /** A line of the input, or what it asks of the kernel, was refused; nothing of the table was written. */
  | 'IPTABLES_REFUSED'
  /** Somebody else holds the lock of the tables; nothing was written. */
  | 'IPTABLES_LOCKED'
  /** A table has rules in it that were not made with iptables, and cannot be read. */
  | 'IPTABLES_INCOMPATIBLE'
  /** It ended or fell silent, and whether the table was written nobody knows. */
  | 'IPTABLES_UNCERTAIN';

/** A program of iptables did not do what it was asked to. */
export class IptablesError extends Error {
  override readonly name = 'IptablesError';
  readonly code: IptablesErrorCode;
  /** Which line of what was given to it, counted from 0, where it said so. */
  readonly line?: number;

  constructor(
    code: IptablesErrorCode,
    message: string,
    about: { readonly line?: number; readonly cause?: unknown } = {},
  ) {
    super(message, { cause: about.cause });
    this.code = code;
    if (about.line !== undefined) this.line = about.line;
  }
}

export function isIncompatible(error: unknown): boolean {
  return error instanceof IptablesError && error.code === 'IPTABLES_INCOMPATIBLE';
}
