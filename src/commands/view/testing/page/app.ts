import type { Problem } from '../../protocol.ts';

/** A script with types, which the server removes. */
export function codeOf(problem: Problem): string {
  return problem.code;
}
