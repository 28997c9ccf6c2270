import { parseProxies } from './contestants.ts';
import type { PlanOptions } from './plan.ts';
import type { ChangeFigures, Run, StageFigures } from './record.ts';
import type { Bound } from './report/bounds.ts';
import { median, quantile } from './report/statistics.ts';
import {
  type Cell,
  changesOf,
  coldOf,
  finalBytes,
  findCell,
  restingBytes,
} from './report/summary.ts';
import { parseSizes } from './sizes.ts';

const SERVICES = 1_000;
const OURS = 'fairlead-nftables';
const PEER = 'upstream-nftables';

/** When a bound is broken there are more rounds, up to so many, before it counts. */
export const MOST_CI_ROUNDS = 4;

/** Small enough for two minutes; large enough that a cost for each Service would show. */
export function ciPlan(): PlanOptions {
  return {
    contestants: parseProxies(`${OURS},${PEER}`),
    sizes: parseSizes(`${SERVICES}x5`),
    measures: ['cold', 'change', 'limit'],
    rounds: 2,
  };
}

/**
 * Ratios within the run, because machines differ and are busy. `usual` is the median of the runs
 * that there were, on two cores with much else to do; the bound is below twice that, so that what
 * doubles fails, and above what noise has done to it.
 *
 * CPU and memory are noisy by little. Times are noisy by much: a round that had to share its cores
 * with a hundred others took four times as long from receipt to acknowledgement, and broke a bound of
 * three times. So a time is held against that of the API server, which the same noise disturbs; of
 * short times the fastest quarter is taken; and of the rounds the best, of ours and of the API
 * server's apart. Noise only adds, and what was made slower is slower in every round. The least of
 * the ratios would be that of the round in which the API server was disturbed most: with it, what
 * doubled passed on a busy machine. That of the best is never above that of the calmest round.
 */
interface CiBound {
  readonly what: string;
  readonly usual: number;
  readonly atMost: number;
  readonly of: (ours: Cell, peer: Cell) => number | undefined;
}

const FASTEST = 0.25;

const BOUNDS: readonly CiBound[] = [
  {
    what: 'one change, write to packet p50, of the API server answering the write',
    usual: 1.3,
    atMost: 2,
    of: (ours) =>
      ratio(
        leastOfRounds(ours, ({ sinceSentMs }) => median(sinceSentMs)),
        leastOfRounds(ours, ({ writtenMs }) => median(writtenMs)),
      ),
  },
  {
    what: 'one change, receipt to acknowledgement p25, of the API server answering the write',
    usual: 0.13,
    atMost: 0.25,
    of: (ours) =>
      ratio(
        leastOfRounds(ours, ({ stages }) => quantile(stages.map(heldMs), FASTEST)),
        leastOfRounds(ours, ({ writtenMs }) => quantile(writtenMs, FASTEST)),
      ),
  },
  {
    what: "CPU of one change, of upstream's",
    usual: 0.0115,
    atMost: 0.021,
    of: (ours, peer) => ratio(changesOf(ours)?.cpuMsPerChange, changesOf(peer)?.cpuMsPerChange),
  },
  {
    what: "CPU of the start, of upstream's",
    usual: 2,
    atMost: 3.8,
    of: (ours, peer) => ratio(startCpuSeconds(ours), startCpuSeconds(peer)),
  },
  {
    what: "memory after the start, of upstream's",
    usual: 1.39,
    atMost: 2.2,
    of: (ours, peer) => ratio(restingBytes(ours)?.median, restingBytes(peer)?.median),
  },
  {
    what: "memory after the changes, of upstream's",
    usual: 1.13,
    atMost: 1.9,
    of: (ours, peer) => ratio(finalBytes(ours)?.median, finalBytes(peer)?.median),
  },
];

/** A figure that is missing breaks its bound: a benchmark that measured nothing must not pass. */
export function ciBounds(run: Run): Bound[] {
  const ours = findCell(run, { services: SERVICES, proxy: OURS });
  const peer = findCell(run, { services: SERVICES, proxy: PEER });
  return BOUNDS.map(({ what, usual, atMost, of }) => ({
    what: `${what} (usually ${usual})`,
    figure: (ours && peer && of(ours, peer)) ?? Number.POSITIVE_INFINITY,
    atMost,
    unit: 'times',
  }));
}

function heldMs({ resolveMs, writeMs }: StageFigures): number {
  return resolveMs + writeMs;
}

function leastOfRounds(
  { visits }: Cell,
  of: (changes: ChangeFigures) => number,
): number | undefined {
  const values = visits.flatMap(({ changes }) => (changes ? [of(changes)] : []));
  return values.length === 0 ? undefined : Math.min(...values);
}

function startCpuSeconds(cell: Cell): number | undefined {
  return coldOf(cell, ({ cpuSeconds }) => cpuSeconds)?.median;
}

function ratio(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? undefined : one / other;
}
