export type IptablesErrorCode =
  /** The program is missing, or cannot be started. */
  | 'IPTABLES_MISSING'
  /** A line was rejected by the program or the kernel; nothing of the table was written. */
  | 'IPTABLES_REFUSED'
  /** Another process holds the xtables lock; nothing was written. */
  | 'IPTABLES_LOCKED'
  /** A table has rules that iptables did not write and cannot read. */
  | 'IPTABLES_INCOMPATIBLE'
  /** The process ended or timed out; whether the table was written is unknown. */
  | 'IPTABLES_UNCERTAIN';

/** A failed iptables program. */
export class IptablesError extends Error {
  override readonly name = 'IptablesError';
  readonly code: IptablesErrorCode;
  /** Index of the rejected input line, if known. */
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
