import { median, quartilesOf } from '../lab/host/spread.ts';
import { parseProxies } from './contestants.ts';
import type { PlanOptions } from './plan.ts';
import type { ChangeFigures, Run, StageFigures, Visit } from './record.ts';
import type { Bound } from './report/bounds.ts';
import type { Spread } from './report/statistics.ts';
import { type Cell, findCell } from './report/summary.ts';
import { parseSizes } from './sizes.ts';

const SERVICES = 1_000;
const OURS = 'fairlead-nftables';
const PEER = 'upstream-nftables';

/** Small enough for three minutes; large enough that a cost for each Service would show. */
export function ciPlan(): PlanOptions {
  return {
    contestants: parseProxies(`${OURS},${PEER}`),
    sizes: parseSizes(`${SERVICES}x5`),
    measures: ['cold', 'change', 'limit'],
    rounds: 3,
  };
}

/**
 * Ratios within the run, because machines differ and are busy. `usual` is the median of the runs
 * that there were, on two cores with much else to do; the bound is below twice that, so that what
 * doubles fails, and above what noise has done to it.
 *
 * A figure is a median, with its middle half beside it, and there is one try. CPU and memory are
 * noisy by little, and are medians of the rounds. Times are noisy by much: a round that had to share
 * its cores with a hundred others took four times as long from receipt to acknowledgement. So each
 * change is held against how long the API server took to answer its own write, which the same noise
 * disturbs at the same moment, and the median is that of all changes of all rounds. In five sizes of
 * a published run it was between 1.20 and 1.27, where that of the times alone varied by a third.
 */
interface CiBound {
  readonly what: string;
  readonly usual: number;
  readonly atMost: number;
  readonly of: (ours: Cell, peer: Cell) => Spread | undefined;
}

const BOUNDS: readonly CiBound[] = [
  {
    what: 'one change, write to packet p50, of the API server answering the write',
    usual: 1.3,
    atMost: 2,
    of: (ours) =>
      middleOf(
        changesIn(ours).flatMap(({ sinceSentMs, writtenMs }) =>
          sinceSentMs.map((ms, index) => ms / (writtenMs[index] ?? Number.NaN)),
        ),
      ),
  },
  {
    what: 'one change, receipt to acknowledgement p50, of the API server answering the write',
    usual: 0.13,
    atMost: 0.25,
    of: (ours) => {
      const changes = changesIn(ours);
      // Stages are measured apart from the changes, so each has no write of its own.
      const writtenMs = median(changes.flatMap((each) => each.writtenMs));
      return middleOf(
        changes.flatMap(({ stages }) => stages.map((each) => heldMs(each) / writtenMs)),
      );
    },
  },
  {
    what: 'CPU of one change, relative to upstream',
    // Of v1.36.4, which listed its rules by `nft`, it was 0.0115. On two cores of November 2026 release
    // 0.1.0 has 0.079, and this state 0.087.
    usual: 0.085,
    atMost: 0.13,
    of: (ours, peer) => roundsOfMedian(ours, peer, cpuOfAChange),
  },
  {
    what: 'CPU of the start, relative to upstream',
    usual: 2,
    atMost: 3.8,
    of: (ours, peer) => roundsOfMedian(ours, peer, ({ cold }) => cold?.cpuSeconds),
  },
  {
    what: 'memory after the start, relative to upstream',
    usual: 1.16,
    atMost: 1.6,
    of: (ours, peer) => roundsOfMedian(ours, peer, ({ cold }) => cold?.memory.residentBytes),
  },
  {
    what: 'memory after the changes, relative to upstream',
    usual: 1.15,
    atMost: 1.6,
    of: (ours, peer) => roundsOfMedian(ours, peer, finalBytes),
  },
];

/** A missing figure fails its bound: a benchmark that measured nothing must not pass. */
export function ciBounds(run: Run): Bound[] {
  const ours = findCell(run, { services: SERVICES, proxy: OURS });
  const peer = findCell(run, { services: SERVICES, proxy: PEER });
  return BOUNDS.map(({ what, usual, atMost, of }) => {
    const spread = ours && peer && of(ours, peer);
    const measured = spread?.median ?? Number.NaN;
    const figure = Number.isNaN(measured) ? Number.POSITIVE_INFINITY : measured;
    return { what: `${what} (usually ${usual})`, figure, atMost, unit: 'times', spread };
  });
}

function heldMs({ resolveMs, writeMs }: StageFigures): number {
  return resolveMs + writeMs;
}

function changesIn({ visits }: Cell): ChangeFigures[] {
  return visits.flatMap(({ changes }) => changes ?? []);
}

function cpuOfAChange({ changes }: Visit): number | undefined {
  return changes && changes.cpuSeconds / changes.sinceSentMs.length;
}

function finalBytes({ changes, cold }: Visit): number | undefined {
  return (changes ?? cold)?.memory.residentBytes;
}

/** Our rounds, each of the median of the other's. */
function roundsOfMedian(
  ours: Cell,
  peer: Cell,
  of: (visit: Visit) => number | undefined,
): Spread | undefined {
  const values = ({ visits }: Cell): number[] =>
    visits.map(of).filter((value) => value !== undefined);
  const other = median(values(peer));
  return middleOf(values(ours).map((value) => value / other));
}

/** The median, and from where to where the middle half is. */
function middleOf(values: readonly number[]): Spread | undefined {
  if (values.length === 0) return undefined;
  const { count, median: middle, p25, p75 } = quartilesOf(values);
  return { count, median: middle, least: p25, most: p75 };
}
