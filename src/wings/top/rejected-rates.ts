import type { RejectedCount } from '../../dataplanes/contract.ts';
import type { ServicePortKey } from '../../forwarding/model.ts';

export interface RejectedRate {
  readonly rejectedPerSecond: number;
  readonly droppedPerSecond: number;
  /** Those of them from outside of the source ranges. Absent: the Service has none. */
  readonly outsideRangesPerSecond?: number;
  /** Packets since the Service lost its last endpoint. */
  readonly rejected: number;
  readonly dropped: number;
}

/** Rates of rejected and dropped packets from successive readings. */
export class RejectedRates {
  #last: { readonly atMs: number; readonly counts: ReadonlyMap<string, RejectedCount> } | undefined;
  #rates: ReadonlyMap<ServicePortKey, RejectedRate> | undefined;

  take(counts: readonly RejectedCount[], atMs: number): void {
    const next = new Map(counts.map((each) => [each.service, each]));
    if (this.#last !== undefined) {
      const seconds = (atMs - this.#last.atMs) / 1000;
      if (seconds <= 0) return;
      this.#rates = ratesBetween(this.#last.counts, next, seconds);
    }
    this.#last = { atMs, counts: next };
  }

  /** Undefined: not read twice yet. A service port that forwards is not in it. */
  all(): ReadonlyMap<ServicePortKey, RejectedRate> | undefined {
    return this.#rates;
  }
}

function ratesBetween(
  before: ReadonlyMap<string, RejectedCount>,
  after: ReadonlyMap<string, RejectedCount>,
  seconds: number,
): Map<ServicePortKey, RejectedRate> {
  const rates = new Map<ServicePortKey, RejectedRate>();
  for (const [service, { rejected, dropped: unserved, outsideRanges }] of after) {
    const known = before.get(service);
    const dropped = unserved + (outsideRanges ?? 0);
    const droppedBefore = known && known.dropped + (known.outsideRanges ?? 0);
    const outside = added(known?.outsideRanges, outsideRanges ?? 0) / seconds;
    rates.set(service, {
      rejectedPerSecond: added(known?.rejected, rejected) / seconds,
      droppedPerSecond: added(droppedBefore, dropped) / seconds,
      ...(outsideRanges === undefined ? {} : { outsideRangesPerSecond: outside }),
      rejected,
      dropped,
    });
  }
  return rates;
}

/** A counter that is smaller than before began at 0 in between. */
function added(before = 0, after: number): number {
  return after >= before ? after - before : after;
}
