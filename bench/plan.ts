import type { LoadSize } from '../lab/load/objects.ts';
import { type Contestant, whyNotRun } from './contestants.ts';
import type { Measure } from './measures.ts';
import { BULK_SERVICES } from './site/bulk-services.ts';
import { endpointsIn, NO_LOAD } from './sizes.ts';

/** One visit, or the word that there is none. */
export interface Step {
  readonly size: LoadSize;
  /** Undefined: the node without any proxy. */
  readonly contestant: Contestant | undefined;
  readonly round: number;
  readonly measures: ReadonlySet<Measure>;
  readonly notRun: string | undefined;
  /** A guess, until there are measurements. */
  readonly estimateSeconds: number;
}

export interface PlanOptions {
  readonly contestants: readonly Contestant[];
  readonly sizes: readonly LoadSize[];
  readonly measures: readonly Measure[];
  readonly rounds: number;
}

/** More rounds of the data path would cost more than they say: each has several cycles. */
const MOST_DATA_ROUNDS = 2;
const LARGE_SERVICES = 10_000;

/** Every visit in the order in which they are made: size by size, and the proxies alternately. */
export function planSteps(options: PlanOptions): Step[] {
  const steps: Step[] = [];
  if (options.measures.includes('data')) steps.push(...withoutLoad(options));
  for (const size of options.sizes) {
    for (let round = 1; round <= options.rounds; round++) {
      for (const contestant of options.contestants) {
        const notRun = whyNotRun(contestant, size);
        const isOnce = notRun !== undefined || size.services >= contestant.oneRoundFrom;
        if (round > 1 && isOnce) continue;
        const measures = measuresFor({ size, contestant, round }, options);
        const estimateSeconds = notRun ? 0 : estimate(contestant, size, measures);
        steps.push({ size, contestant, round, measures, notRun, estimateSeconds });
      }
    }
  }
  return steps;
}

/** The bare kernel, and each proxy's rules with next to no Services in them. */
function withoutLoad({ contestants, rounds }: PlanOptions): Step[] {
  const steps: Step[] = [];
  const measures = new Set<Measure>(['data']);
  for (let round = 1; round <= Math.min(rounds, MOST_DATA_ROUNDS); round++) {
    for (const contestant of [undefined, ...contestants]) {
      if (round > 1 && contestant?.oneRoundFrom === 0) continue;
      const estimateSeconds = estimate(contestant, NO_LOAD, measures);
      steps.push({
        size: NO_LOAD,
        contestant,
        round,
        measures,
        notRun: undefined,
        estimateSeconds,
      });
    }
  }
  return steps;
}

function measuresFor(
  of: { readonly size: LoadSize; readonly contestant: Contestant; readonly round: number },
  options: PlanOptions,
): ReadonlySet<Measure> {
  const measures = new Set(options.measures);
  if (of.round > MOST_DATA_ROUNDS || !hasDataPath(of, options)) measures.delete('data');
  if (!of.contestant.isOurs || of.contestant.isEbpf) measures.delete('limit');
  // With them there would be more Services than the proxy may be run with.
  if (of.size.services + BULK_SERVICES > of.contestant.mostServices) measures.delete('bulk');
  return measures;
}

/** At the smallest size, at large ones, and at the largest that the proxy can run. */
function hasDataPath(
  { size, contestant }: { readonly size: LoadSize; readonly contestant: Contestant },
  { sizes }: PlanOptions,
): boolean {
  const largest = sizes.findLast((each) => whyNotRun(contestant, each) === undefined);
  return size === sizes[0] || size === largest || size.services >= LARGE_SERVICES;
}

/** In seconds, as they were on two cores. */
const DATA_SECONDS = 17;
const START_SECONDS = 4;
/** A start of Cilium, which compiles its programs. */
const COMPILING_SECONDS = 15;

function estimate(
  contestant: Contestant | undefined,
  size: LoadSize,
  measures: ReadonlySet<Measure>,
): number {
  const endpoints = endpointsIn(size);
  const data = measures.has('data') ? DATA_SECONDS : 0;
  if (contestant === undefined) return data / 2;
  const isIptables = contestant.rules === 'iptables';
  if (contestant.isOurs) {
    const changes = measures.has('change') ? 12 : 0;
    return START_SECONDS + data + changes + 8 + endpoints * (isIptables ? 3e-4 : 5e-5);
  }
  if (contestant.isEbpf) {
    const changes = measures.has('change') ? contestant.changes * 0.8 : 0;
    return COMPILING_SECONDS + data + changes + 8 + endpoints * 1e-4;
  }
  const sync = endpoints * (isIptables ? 2e-5 : 4e-6);
  const start = isIptables ? sync * 6 : endpoints * 2.3e-4;
  const quadratic = isIptables && !contestant.isLegacy ? size.services ** 2 * 6e-6 : 0;
  const changes = measures.has('change') ? contestant.changes * (1.7 + sync) : 0;
  return START_SECONDS + data + quadratic + start + changes + 6;
}

/** How long a cluster of a size takes to come and to go. */
export function siteSeconds(size: LoadSize): number {
  return 8 + endpointsIn(size) * 1e-4;
}
