import { parseProxies } from './contestants.ts';
import type { PlanOptions } from './plan.ts';
import type { Run } from './record.ts';
import type { Bound } from './report/bounds.ts';
import {
  type Cell,
  changesOf,
  coldOf,
  finalBytes,
  findCell,
  receiptOf,
  restingBytes,
} from './report/summary.ts';
import { parseSizes } from './sizes.ts';

const SERVICES = 1_000;
const OURS = 'fairlead-nftables';
const PEER = 'upstream-nftables';

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
 * Ratios within the run, because machines differ and are busy. `usual` is the median of the three or
 * four runs that there were, on two cores with much else to do, two of them with a planted fault and
 * counted where it does not show. The bound is below twice that, so that what doubles fails, and
 * above what noise has done to it. CPU and memory are noisy by little, times by much: those are held
 * against the API server, which the same noise disturbs. The second has a bound of three times: how
 * it is on a quiet machine is not known yet.
 */
interface CiBound {
  readonly what: string;
  readonly usual: number;
  readonly atMost: number;
  readonly of: (ours: Cell, peer: Cell) => number | undefined;
}

const BOUNDS: readonly CiBound[] = [
  {
    what: 'one change, write to packet p50, of the API server answering the write',
    usual: 1.3,
    atMost: 2,
    of: (ours) => ratio(changesOf(ours)?.p50Ms, changesOf(ours)?.writtenP50Ms),
  },
  {
    what: 'one change, receipt to acknowledgement p50, of the API server answering the write',
    usual: 0.1,
    atMost: 0.3,
    of: (ours) => ratio(receiptOf(ours)?.p50Ms, changesOf(ours)?.writtenP50Ms),
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

function startCpuSeconds(cell: Cell): number | undefined {
  return coldOf(cell, ({ cpuSeconds }) => cpuSeconds)?.median;
}

function ratio(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? undefined : one / other;
}
