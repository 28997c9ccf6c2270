import { LabError } from '../lab/host/errors.ts';
import type { Scenario } from './scenario.ts';

/** Which of how many equal parts of the scenarios; the first is 1. */
export interface Share {
  readonly number: number;
  readonly of: number;
}

/** As written on the command line: 1/2 is the first half. */
export function parseShare(text: string): Share {
  const [, number = 0, of = 0] = (/^(\d+)\/(\d+)$/.exec(text) ?? []).map(Number);
  if (number >= 1 && number <= of) return { number, of };
  throw new LabError('LAB_USAGE', `--share ${text}: it must be K/N with K from 1 to N`, {
    next: 'ask for the first of two parts with --share 1/2',
  });
}

/**
 * One part, so that several runs side by side have asked each scenario once. A restart of the proxy for a
 * configuration takes longer than a scenario, so a configuration of a few stays in one part; only those
 * with many are divided. In the order given.
 */
export function shareOf(scenarios: readonly Scenario[], { number, of }: Share): Scenario[] {
  const counts = Array.from({ length: of }, () => 0);
  const chosen = new Set<Scenario>();
  for (const group of divided(scenarios, of)) {
    const part = counts.indexOf(Math.min(...counts));
    counts[part] = (counts[part] ?? 0) + group.length;
    if (part === number - 1) for (const scenario of group) chosen.add(scenario);
  }
  return scenarios.filter((scenario) => chosen.has(scenario));
}

/** The largest first, so that the small ones even out what is left. */
function divided(scenarios: readonly Scenario[], parts: number): Scenario[][] {
  const byConfiguration = Map.groupBy(scenarios, ({ setup }) => JSON.stringify(setup ?? {}));
  const groups = [...byConfiguration.values()].flatMap((group) => {
    const size = Math.ceil(group.length / parts);
    if (size < SCENARIOS_WORTH_A_START) return [group];
    return Array.from({ length: parts }, (_, at) => group.slice(at * size, (at + 1) * size));
  });
  return groups.toSorted((a, b) => b.length - a.length);
}

const SCENARIOS_WORTH_A_START = 8;
