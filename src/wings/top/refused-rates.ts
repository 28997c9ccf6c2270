import type { RefusedCount } from '../../dataplanes/contract.ts';
import type { ServicePortKey } from '../../forwarding/model.ts';

export interface RefusedRate {
  readonly rejectedPerSecond: number;
  readonly droppedPerSecond: number;
  /** Packets since the Service lost its last endpoint. */
  readonly rejected: number;
  readonly dropped: number;
}

/** Rates of rejected and dropped packets from successive readings. */
export class RefusedRates {
  #last: { readonly atMs: number; readonly counts: ReadonlyMap<string, RefusedCount> } | undefined;
  #rates: ReadonlyMap<ServicePortKey, RefusedRate> | undefined;

  take(counts: readonly RefusedCount[], atMs: number): void {
    const next = new Map(counts.map((each) => [each.service, each]));
    if (this.#last !== undefined) {
      const seconds = (atMs - this.#last.atMs) / 1000;
      if (seconds <= 0) return;
      this.#rates = ratesBetween(this.#last.counts, next, seconds);
    }
    this.#last = { atMs, counts: next };
  }

  /** Undefined: not read twice yet. A service port that forwards is not in it. */
  all(): ReadonlyMap<ServicePortKey, RefusedRate> | undefined {
    return this.#rates;
  }
}

function ratesBetween(
  before: ReadonlyMap<string, RefusedCount>,
  after: ReadonlyMap<string, RefusedCount>,
  seconds: number,
): Map<ServicePortKey, RefusedRate> {
  const rates = new Map<ServicePortKey, RefusedRate>();
  for (const [service, { rejected, dropped }] of after) {
    const known = before.get(service);
    rates.set(service, {
      rejectedPerSecond: added(known?.rejected, rejected) / seconds,
      droppedPerSecond: added(known?.dropped, dropped) / seconds,
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
