/** What a command could not do, for a program (`code`), a reader, and whoever has to go on (`next`). */
export class CommandError extends Error {
  readonly code: string;
  readonly next: string;

  constructor(message: string, more: { code: string; next: string; cause?: unknown }) {
    super(message, { cause: more.cause });
    this.name = 'CommandError';
    this.code = more.code;
    this.next = more.next;
  }
}
