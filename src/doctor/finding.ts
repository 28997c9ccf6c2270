/**
 * `ok`: as Services need it. `note`: works, but not for everybody or not for long. `problem`: breaks
 * Services. `unasked`: could not be asked.
 */
export type Level = 'ok' | 'note' | 'problem' | 'unasked';

/** One result of a check. */
export interface Finding {
  readonly level: Level;
  /** For programs: stays the same in later versions. */
  readonly code: string;
  /** The thing and its value, such as `net.ipv4.ip_forward = 0`. */
  readonly what: string;
  /** What breaks by it. Absent where all is well. */
  readonly why?: string;
  /** What to do. Absent where all is well. */
  readonly next?: string;
}

/** A finding, and the check that it comes from. */
export interface Result extends Finding {
  readonly check: string;
}

export function ok(what: string): Finding {
  return { level: 'ok', code: 'OK', what };
}

interface About {
  readonly what: string;
  readonly why: string;
  readonly next: string;
}

export function note(code: string, { what, why, next }: About): Finding {
  return { level: 'note', code, what, why, next };
}

export function problem(code: string, { what, why, next }: About): Finding {
  return { level: 'problem', code, what, why, next };
}

export function unasked(code: string, { what, why, next }: About): Finding {
  return { level: 'unasked', code, what, why, next };
}

/** The given findings, or that all is well. */
export function orOk(findings: readonly Finding[], what: string): readonly Finding[] {
  return findings.length === 0 ? [ok(what)] : findings;
}
