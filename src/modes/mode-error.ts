/** Why a mode cannot be used: `code` for a program, `next` for a person. */
export class ModeError extends Error {
  override readonly name = 'ModeError';
  readonly code: 'MODE_MISSING';
  readonly next: string;

  constructor(message: string, about: { code: ModeError['code']; next: string }) {
    super(message);
    this.code = about.code;
    this.next = about.next;
  }
}
