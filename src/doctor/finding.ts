import type { BasicFinding } from './basic-finding.ts';
import type { Checked } from './run-checks.ts';

/** One result of a check of `fairlead doctor`, for programs too. */
export interface Finding extends BasicFinding {
  /** For programs: stays the same in later versions. */
  readonly code: string;
  /** What breaks by it. Absent where all is well. */
  readonly why?: string;
}

/** A finding, and the check that it comes from. */
export type Result = Finding & Checked;

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

/** `pod-1, pod-2 and 3 more`. */
export function listedNames(names: readonly string[], most = 3): string {
  const more = names.length - most;
  return more <= 0 ? names.join(', ') : `${names.slice(0, most).join(', ')} and ${more} more`;
}
