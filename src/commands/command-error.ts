/** `run`: another instance serves this network namespace; a restart does not help. */
export const ALREADY_RUNNING_EXIT = 4;

/** Invalid command line. */
export const WRONG_USAGE_EXIT = 2;

/** A failed command: `code` for programs, the message for readers, `next` for what to do. */
export class CommandError extends Error {
  readonly code: string;
  readonly next: string;
  /** Exit code of the process; default: 1. */
  readonly exitCode: number | undefined;

  constructor(
    message: string,
    more: { code: string; next: string; cause?: unknown; exitCode?: number },
  ) {
    super(message, { cause: more.cause });
    this.name = 'CommandError';
    this.code = more.code;
    this.next = more.next;
    this.exitCode = more.exitCode;
  }
}

const FAILED = 1;

/** Exit code of the process after an error. */
export function exitCodeOf(error: unknown): number {
  return (error instanceof CommandError ? error.exitCode : undefined) ?? FAILED;
}
