import type { ServicePortKey } from '../../forwarding/model.ts';
import type { RejectedRate } from './rejected-rates.ts';

/** Service ports whose counters are read in a tick: more than fit a screen. */
const MOST_MEASURED = 100;
/** Times what is wanted. */
const SORTED_AT_ONCE = 8;

export interface Known {
  /** Every service port. */
  readonly keys: ReadonlySet<ServicePortKey>;
  readonly heard: ReadonlyMap<ServicePortKey, number>;
  readonly newInTotals: ReadonlyMap<ServicePortKey, number>;
  readonly rejected: ReadonlyMap<ServicePortKey, RejectedRate>;
  readonly live: ReadonlyMap<ServicePortKey, number>;
}

/**
 * The service ports that are worth reading counters of, the busiest first: by the new connections
 * that conntrack or the mode's own totals tell of, then by what is rejected, then by what is open. A
 * few Services are all read, so that none is missed whose connections nothing tells of.
 */
export function candidatesOf(known: Known): readonly ServicePortKey[] {
  const { keys, heard, newInTotals, rejected, live } = known;
  if (keys.size <= MOST_MEASURED) return [...keys];
  const scores = new Map<ServicePortKey, number>();
  const raise = (key: ServicePortKey, score: number): void => {
    if (score > (scores.get(key) ?? 0) && keys.has(key)) scores.set(key, score);
  };
  for (const [key, count] of heard) raise(key, count);
  for (const [key, count] of newInTotals) raise(key, count);
  for (const [key, rate] of rejected) raise(key, rate.rejectedPerSecond + rate.droppedPerSecond);
  const busy = largestOf(scores, MOST_MEASURED);
  if (busy.length === MOST_MEASURED) return busy;
  const open = live.entries().filter(([key]) => keys.has(key) && !scores.has(key));
  return [...busy, ...largestOf(open, MOST_MEASURED - busy.length)];
}

/** The keys of the largest figures; of as many the first by name. Sorts a few times as many as asked for. */
function largestOf(
  figures: Iterable<readonly [ServicePortKey, number]>,
  most: number,
): ServicePortKey[] {
  let kept: (readonly [ServicePortKey, number])[] = [];
  let least = Number.NEGATIVE_INFINITY;
  for (const each of figures) {
    if (each[1] < least) continue;
    kept.push(each);
    if (kept.length < most * SORTED_AT_ONCE) continue;
    kept = kept.sort(byFigure).slice(0, most);
    least = kept.at(-1)?.[1] ?? least;
  }
  return kept
    .sort(byFigure)
    .slice(0, most)
    .map(([key]) => key);
}

function byFigure(
  [a, x]: readonly [ServicePortKey, number],
  [b, y]: readonly [ServicePortKey, number],
): number {
  return y - x || (a < b ? -1 : 1);
}
