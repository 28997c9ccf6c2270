import type { Result } from './finding.ts';
import type { Preflight } from './preflight.ts';

/** Everything that `fairlead doctor` found, as data. */
export interface Report {
  readonly verdict: Verdict;
  readonly problems: number;
  readonly notes: number;
  /** Checks without a complaint. */
  readonly passed: number;
  /** Checks that could not be made. */
  readonly unasked: number;
  readonly mode: string;
  readonly node?: string;
  readonly results: readonly Result[];
  /** Which modes could run here. */
  readonly modes: readonly Preflight[];
}

/** `incomplete`: no problem was found, but not everything could be asked. */
export type Verdict = 'healthy' | 'problems' | 'incomplete';

export interface Reported {
  readonly results: readonly Result[];
  readonly modes: readonly Preflight[];
  readonly mode: string;
  readonly node: string | undefined;
}

export function reportOf({ results, modes, mode, node }: Reported): Report {
  const count = (level: Result['level']): number =>
    results.filter((each) => each.level === level).length;
  const [problems, notes] = [count('problem'), count('note')];
  const byCheck = [...Map.groupBy(results, ({ check }) => check).values()];
  const passed = byCheck.filter((results) => results.every(({ level }) => level === 'ok')).length;
  const unasked = byCheck.filter((results) =>
    results.some(({ level }) => level === 'unasked'),
  ).length;
  const about = { problems, notes, passed, unasked, mode, results, modes };
  return {
    verdict: verdictOf(problems, unasked),
    ...about,
    ...(node === undefined ? {} : { node }),
  };
}

function verdictOf(problems: number, unasked: number): Verdict {
  if (problems > 0) return 'problems';
  return unasked > 0 ? 'incomplete' : 'healthy';
}
