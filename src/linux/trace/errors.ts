export type TraceErrorCode =
  | 'PROBE_NOT_PERMITTED'
  | 'PROBE_BUSY'
  | 'PROBE_UNSUPPORTED'
  | 'PROBE_REJECTED';

/** A probe cannot be traced. */
export class TraceError extends Error {
  override readonly name = 'TraceError';
  readonly code: TraceErrorCode;
  /** What a person can do about it. */
  readonly next: string;

  constructor(
    code: TraceErrorCode,
    message: string,
    about: { readonly next: string; readonly cause?: unknown },
  ) {
    super(message, { cause: about.cause });
    this.code = code;
    this.next = about.next;
  }
}
