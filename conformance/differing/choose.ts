import type { Scenario } from '../scenario.ts';
import type { OwnPath } from './own-path.ts';
import { type Traits, traitsOf } from './traits.ts';

export interface Choice {
  readonly chosen: readonly Chosen[];
  /** How many scenarios there were to choose from. */
  readonly total: number;
  /** How many combinations of traits are on the proxy's own path. */
  readonly combinations: number;
}

export interface Chosen {
  readonly scenario: Scenario;
  /** A known difference, or the combinations that were missing before it was chosen. */
  readonly why: 'known difference' | readonly string[];
}

interface Candidate {
  readonly scenario: Scenario;
  readonly combinations: ReadonlySet<string>;
}

/**
 * The scenarios in which a proxy could differ from the others: all with a known difference of its
 * own or of its counterpart, and then few that have every combination of traits on its own path,
 * each combination in as many scenarios as asked for, where there are so many; with 0 none but those
 * with a known difference.
 */
export function chooseDiffering(
  corpus: readonly Scenario[],
  path: OwnPath,
  timesEach: number,
): Choice {
  const candidates = corpus.map((scenario) => ({
    scenario,
    combinations: new Set(traitsOf(scenario).flatMap((traits) => combinationsOf(traits, path))),
  }));
  const missing = new Missing(candidates, timesEach);
  const combinations = missing.count;
  const chosen = new Map<Candidate, Chosen>();
  const choose = (candidate: Candidate, why: Chosen['why']): void => {
    chosen.set(candidate, { scenario: candidate.scenario, why });
    missing.cover(candidate);
  };
  for (const candidate of candidates) {
    if (hasKnownDifference(candidate.scenario, path)) choose(candidate, 'known difference');
  }
  while (missing.count > 0) {
    const rest = candidates.filter((candidate) => !chosen.has(candidate));
    const best = rest.reduce((a, b) => (missing.in(b).length > missing.in(a).length ? b : a));
    choose(best, missing.in(best));
  }
  const inOrder = candidates.flatMap((candidate) => chosen.get(candidate) ?? []);
  return { chosen: inOrder, total: corpus.length, combinations };
}

/** Which combinations have to be in how many more scenarios. */
class Missing {
  readonly #times = new Map<string, number>();

  constructor(candidates: readonly Candidate[], timesEach: number) {
    if (timesEach === 0) return;
    for (const combination of candidates.flatMap(({ combinations }) => [...combinations])) {
      const times = this.#times.get(combination) ?? 0;
      this.#times.set(combination, Math.min(times + 1, timesEach));
    }
  }

  get count(): number {
    return this.#times.size;
  }

  in(candidate: Candidate): string[] {
    return [...candidate.combinations].filter((combination) => this.#times.has(combination));
  }

  cover(candidate: Candidate): void {
    for (const combination of this.in(candidate)) {
      const times = (this.#times.get(combination) ?? 1) - 1;
      if (times === 0) this.#times.delete(combination);
      else this.#times.set(combination, times);
    }
  }
}

/** Who asks where, with which answer; and each quality with where it was asked. */
function combinationsOf(traits: Traits, path: OwnPath): string[] {
  const { asker, target, protocol, answer } = traits;
  if (path.sharedAskers.includes(asker) || path.sharedTargets.includes(target)) return [];
  if (path.sharedProtocols.includes(protocol)) return [];
  const own = [...traits.qualities].filter((quality) => !isShared(quality, path));
  return [
    `${asker} to ${target}, ${protocol}: ${answer}`,
    ...own.map((quality) => `${quality}: ${asker} to ${target}`),
  ];
}

function isShared(quality: string, { sharedQualities }: OwnPath): boolean {
  return sharedQualities.some((name) => quality === name || quality.startsWith(`${name}=`));
}

function hasKnownDifference(scenario: Scenario, { proxy, counterpart }: OwnPath): boolean {
  const isNamed = (name: string): boolean => isOf(name, proxy) || isOf(name, counterpart);
  return scenario.steps.some((step) => {
    if ('ask' in step) return step.ask.some((q) => Object.keys(q.otherwise ?? {}).some(isNamed));
    return 'held' in step && Object.keys(step.otherwise ?? {}).some(isNamed);
  });
}

/** `fairlead-iptables-legacy` is a `fairlead-iptables`, on whatever network: `PROXY@NETWORK`. */
export function isOf(name: string, proxy: string): boolean {
  const [bare = ''] = name.split('@');
  return bare === proxy || bare.startsWith(`${proxy}-`);
}
