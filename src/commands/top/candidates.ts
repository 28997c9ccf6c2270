import type { ServicePortKey } from '../../forwarding/model.ts';
import type { RefusedRate } from './refused-rates.ts';

/** Service ports whose counters are read in a tick: more than fit a screen. */
const MOST_MEASURED = 100;

export interface Known {
  /** Every service port. */
  readonly keys: readonly ServicePortKey[];
  readonly heard: ReadonlyMap<ServicePortKey, number>;
  readonly newInTotals: ReadonlyMap<ServicePortKey, number>;
  readonly refused: ReadonlyMap<ServicePortKey, RefusedRate>;
  readonly live: ReadonlyMap<ServicePortKey, number>;
}

/**
 * The service ports that are worth reading counters of, the busiest first: by the new connections
 * that conntrack or the mode's own totals tell of, then by what is rejected, then by what is open. A
 * few Services are all read, so that none is missed whose connections nothing tells of.
 */
export function candidatesOf(known: Known): readonly ServicePortKey[] {
  const { keys, heard, newInTotals, refused, live } = known;
  if (keys.length <= MOST_MEASURED) return keys;
  const served = new Set(keys);
  const isRefusing = [...refused].filter(([, rate]) => isBusy(rate)).map(([key]) => key);
  const some = new Set([...heard.keys(), ...newInTotals.keys(), ...isRefusing]);
  const score = (key: ServicePortKey): number =>
    Math.max(heard.get(key) ?? 0, newInTotals.get(key) ?? 0, refusedPackets(refused.get(key)));
  const busy = [...some]
    .filter((key) => served.has(key))
    .sort((a, b) => score(b) - score(a) || byText(a, b))
    .slice(0, MOST_MEASURED);
  if (busy.length === MOST_MEASURED) return busy;
  const chosen = new Set(busy);
  const open = [...live]
    .filter(([key]) => served.has(key) && !chosen.has(key))
    .sort(([a, x], [b, y]) => y - x || byText(a, b))
    .slice(0, MOST_MEASURED - busy.length);
  return [...busy, ...open.map(([key]) => key)];
}

function isBusy(rate: RefusedRate): boolean {
  return rate.rejectedPerSecond + rate.droppedPerSecond > 0;
}

function refusedPackets(rate: RefusedRate | undefined): number {
  return rate ? rate.rejectedPerSecond + rate.droppedPerSecond : 0;
}

function byText(a: string, b: string): number {
  return a < b ? -1 : 1;
}
