import type { Problem } from '../../protocol/common.ts';

/** A script with types, which the server removes. */
export function codeOf(problem: Problem): string {
  return problem.code;
}
