import type { NamedTest } from '../security/rows.ts';

/** How a quota of the table in docs/limits.md is taken away: what a file says once, and what instead. */
export interface PlantedQuota {
  /** First cell of its row, which names the test that must fail. */
  readonly bound: string;
  readonly file: string;
  readonly replace: string;
  readonly by: string;
  /** In place of the one that the row names, where that needs a lab. */
  readonly test?: NamedTest;
}

/** The file without the quota; undefined: the text does not stand there exactly once. */
export function withoutQuota(text: string, { replace, by }: PlantedQuota): string | undefined {
  const [before, after, ...more] = text.split(replace);
  if (before === undefined || after === undefined || more.length > 0) return undefined;
  return before + by + after;
}
