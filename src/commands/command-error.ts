/** `run`: another one serves here, and neither a restart nor another configuration helps. */
export const ALREADY_RUNNING_EXIT = 4;

/** The command line is not one that can be understood. */
export const WRONG_USAGE_EXIT = 2;

/** What a command could not do, for a program (`code`), a reader, and whoever has to go on (`next`). */
export class CommandError extends Error {
  readonly code: string;
  readonly next: string;
  /** Of the process; the usual one for a failure if not given. */
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

/** What the process ends with after an error. */
export function exitCodeOf(error: unknown): number {
  return (error instanceof CommandError ? error.exitCode : undefined) ?? FAILED;
}
