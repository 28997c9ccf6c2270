import type { EncodingName } from './encodings.ts';

interface Row {
  given: number;
  json: number;
  protobuf: number;
  accepted: number;
  rejected: number;
}

/** How much of what was given, and what became of it. */
export class Tally {
  readonly rows = new Map<string, Row>();
  readonly problems = new Map<string, number>();

  #isClosed = false;

  /** What is repeated to shrink a case is nothing new. */
  close(): void {
    this.#isClosed = true;
  }

  count(
    what: string,
    of: { encoding: EncodingName; accepted: number; rejected: number; given?: number },
  ): void {
    if (this.#isClosed) return;
    const row = this.rows.get(what) ?? { given: 0, json: 0, protobuf: 0, accepted: 0, rejected: 0 };
    const { given = 1 } = of;
    row.given += given;
    row[of.encoding] += given;
    row.accepted += of.accepted;
    row.rejected += of.rejected;
    this.rows.set(what, row);
  }

  countProblem(code: string): void {
    if (this.#isClosed) return;
    this.problems.set(code, (this.problems.get(code) ?? 0) + 1);
  }

  get given(): number {
    return [...this.rows.values()].reduce((sum, { given }) => sum + given, 0);
  }
}
