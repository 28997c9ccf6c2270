import { FAMILIES, type Family, type ServicePortKey } from '../forwarding/model.ts';
import type { Change } from '../forwarding/table.ts';
import type { Clock } from '../time/clock.ts';
import type { Propagation, Unneeded } from './observer.ts';
import { type Entry, serviceOf } from './outstanding-entry.ts';

/** Triggers of one Service that wait for the kernel; beyond that the oldest count. */
const MOST_TRIGGERS = 32;

interface Arrival {
  /** Of the first change. */
  readonly receivedAtMs: number;
  /** Of the last change. */
  lastReceivedAtMs: number;
  /**
   * By their dates, when they were on our clock. The same trigger may be noted in several slices,
   * and our wall clock may have been set between two of them.
   */
  readonly triggers: Map<number, number>;
}

interface Journey extends Arrival {
  readonly resolvedAtMs: number;
  readonly keys: Set<ServicePortKey>;
  readonly families: Set<Family>;
}

export interface ReceivedChange {
  /** `namespace/name`; undefined: the change does not have it. */
  readonly service: string | undefined;
  readonly atMs: number;
  /** Milliseconds since 1970, by the clocks of the control plane. */
  readonly triggeredAtMs: number | undefined;
}

/**
 * Measures how long changes take from the API into the kernel, each until it is there. Times are
 * on the monotonic clock; the date of a trigger is brought to it at the receipt.
 */
export class Propagations {
  readonly #startedAtMs: number;
  readonly #clock: Pick<Clock, 'wallMs'>;
  readonly #arrived = new Map<string, Arrival>();
  /** For changes that do not name their Service, such as a deleted slice. */
  #unnamedAtMs: number | undefined;
  readonly #underWay = new Map<string, Journey>();

  /** Triggers before this time are not our latency. */
  constructor(startedAtMs: number, clock: Pick<Clock, 'wallMs'>) {
    this.#startedAtMs = startedAtMs;
    this.#clock = clock;
  }

  received({ service, atMs, triggeredAtMs }: ReceivedChange): void {
    if (service === undefined) {
      this.#unnamedAtMs ??= atMs;
      return;
    }
    const arrival = this.#arrived.get(service) ?? arrivalAt(atMs);
    arrival.lastReceivedAtMs = atMs;
    if (triggeredAtMs !== undefined) {
      const triggerMs = atMs - (this.#clock.wallMs() - triggeredAtMs);
      if (triggerMs >= this.#startedAtMs) noteTriggers(arrival, [[triggeredAtMs, triggerMs]]);
    }
    this.#arrived.set(service, arrival);
  }

  /**
   * Received changes were compiled to rows, or to none; `isAll`: for every Service received. Gives
   * those that need no write, because no row follows from them.
   */
  resolved(
    changes: readonly Change[],
    { nowMs, isAll }: { readonly nowMs: number; readonly isAll: boolean },
  ): readonly Unneeded[] {
    const resolved = new Set<string>();
    for (const { key, before, after } of changes) {
      const id = (after ?? before)?.id;
      if (id === undefined) continue;
      const service = serviceOf(id);
      const journey = this.#journeyOf(service, nowMs);
      journey?.keys.add(key);
      journey?.families.add(id.family);
      resolved.add(service);
    }
    for (const service of resolved) this.#arrived.delete(service);
    if (!isAll) return [];
    const unneeded = Array.from(this.#arrived, ([service, arrival]) =>
      unneededOf(service, arrival),
    );
    this.forgetArrivals();
    return unneeded;
  }

  /** The first lists are not changes. */
  forgetArrivals(): void {
    this.#arrived.clear();
    this.#unnamedAtMs = undefined;
  }

  /** Gives the journeys that end with these rows. */
  acknowledged(entries: readonly Entry[], nowMs: number): Propagation[] {
    const ended: Propagation[] = [];
    for (const { key, id } of entries) {
      const service = serviceOf(id);
      const journey = this.#underWay.get(service);
      if (journey === undefined || !journey.keys.delete(key) || journey.keys.size > 0) continue;
      this.#underWay.delete(service);
      ended.push({
        service,
        families: FAMILIES.filter((family) => journey.families.has(family)),
        resolveMs: journey.resolvedAtMs - journey.receivedAtMs,
        totalMs: nowMs - journey.receivedAtMs,
        receivedAtMs: journey.receivedAtMs,
        lastReceivedAtMs: journey.lastReceivedAtMs,
        sinceTriggeredMs: [...journey.triggers.values()].map((at) => Math.max(0, nowMs - at)),
      });
    }
    return ended;
  }

  /** Rows that need no write: the change was undone. Gives the changes that end with them. */
  withdrawn(
    changes: readonly Change[],
    isOutstanding: (key: ServicePortKey) => boolean,
  ): readonly Unneeded[] {
    const ended: Unneeded[] = [];
    for (const { key, before, after } of changes) {
      const id = (after ?? before)?.id;
      if (id === undefined || isOutstanding(key)) continue;
      const service = serviceOf(id);
      const journey = this.#underWay.get(service);
      if (journey?.keys.delete(key) && journey.keys.size === 0) {
        this.#underWay.delete(service);
        ended.push(unneededOf(service, journey));
      }
    }
    return ended;
  }

  #journeyOf(service: string, nowMs: number): Journey | undefined {
    const known = this.#underWay.get(service);
    const arrival = this.#arrived.get(service) ?? this.#unnamedArrival();
    if (arrival === undefined) return undefined;
    if (known !== undefined) {
      noteTriggers(known, arrival.triggers);
      known.lastReceivedAtMs = Math.max(known.lastReceivedAtMs, arrival.lastReceivedAtMs);
      return known;
    }
    const journey = {
      receivedAtMs: arrival.receivedAtMs,
      lastReceivedAtMs: arrival.lastReceivedAtMs,
      triggers: new Map(arrival.triggers),
      resolvedAtMs: nowMs,
      keys: new Set<ServicePortKey>(),
      families: new Set<Family>(),
    };
    this.#underWay.set(service, journey);
    return journey;
  }

  #unnamedArrival(): Arrival | undefined {
    if (this.#unnamedAtMs === undefined) return undefined;
    return arrivalAt(this.#unnamedAtMs);
  }
}

function arrivalAt(atMs: number): Arrival {
  return { receivedAtMs: atMs, lastReceivedAtMs: atMs, triggers: new Map() };
}

function unneededOf(service: string, { receivedAtMs, lastReceivedAtMs }: Arrival): Unneeded {
  return { service, receivedAtMs, lastReceivedAtMs };
}

function noteTriggers({ triggers }: Arrival, more: Iterable<readonly [number, number]>): void {
  for (const [triggeredAtMs, atMs] of more) {
    if (triggers.size < MOST_TRIGGERS && !triggers.has(triggeredAtMs)) {
      triggers.set(triggeredAtMs, atMs);
    }
  }
}
