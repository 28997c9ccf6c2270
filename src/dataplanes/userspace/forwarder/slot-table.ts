import type { ServicePortKey } from '../../../forwarding/model.ts';
import type { WireEndpoint } from '../protocol.ts';
import { COUNT, COUNT_FIELDS, MOST_SLOTS, THREAD_COUNT } from './slots.ts';

/** Whose slot it is. */
export interface SlotIdentity {
  readonly row: ServicePortKey;
  readonly endpoint: WireEndpoint;
}

/** Sums over all threads, by the names of `COUNT`. */
export type SlotCounts = Record<keyof typeof COUNT, number>;

export interface SlotMemory {
  readonly open: Int32Array;
  readonly avoided: Int32Array;
  /** One of each thread, and the last one for counts of forwarders that handed over. */
  readonly counts: readonly Float64Array[];
  readonly mostSlots?: number;
}

interface Leaving {
  /** The round in which it left its row, or was first seen without connections. */
  round: number;
  isQuiet: boolean;
}

const FIELDS = Object.keys(COUNT) as (keyof typeof COUNT)[];

/**
 * Which endpoint of which row has which slot of the shared memory. A slot whose endpoint left its row
 * keeps its identity while connections are open. It is reused after two rounds, each of which every
 * thread has answered: one after which no thread knows the endpoint, and one after which none has a
 * count of its last connection still to add.
 */
export class SlotTable {
  readonly #memory: SlotMemory;
  readonly #mostSlots: number;
  readonly #identities: (SlotIdentity | undefined)[] = [];
  readonly #free: number[] = [];
  readonly #leaving = new Map<number, Leaving>();
  /** Slots that are leaving, by row and endpoint. */
  readonly #left = new Map<string, number>();
  readonly #gone: SlotCounts = noCounts();
  #round = 0;

  constructor(memory: SlotMemory) {
    this.#memory = memory;
    this.#mostSlots = memory.mostSlots ?? MOST_SLOTS;
  }

  /** Undefined: all slots are taken. An endpoint that returns gets the slot it had, if it still is there. */
  take(identity: SlotIdentity): number | undefined {
    const name = nameOf(identity);
    const former = this.#left.get(name);
    if (former !== undefined) {
      this.#left.delete(name);
      this.#leaving.delete(former);
      return former;
    }
    const slot = this.#free.pop() ?? this.#identities.length;
    if (slot >= this.#mostSlots) return undefined;
    this.#identities[slot] = identity;
    return slot;
  }

  /** For a connection to an endpoint that is in no row. Throws if all slots are taken. */
  takeLeaving(identity: SlotIdentity): number {
    const slot = this.#left.get(nameOf(identity)) ?? this.take(identity);
    if (slot === undefined) throw new Error(`all ${this.#mostSlots} slots are taken`);
    this.leave(slot);
    return slot;
  }

  /** The endpoint left its row. */
  leave(slot: number): void {
    const identity = this.#identities[slot];
    if (identity === undefined) return;
    this.#leaving.set(slot, { round: this.#round, isQuiet: false });
    this.#left.set(nameOf(identity), slot);
  }

  identity(slot: number): SlotIdentity | undefined {
    return this.#identities[slot];
  }

  get leavingCount(): number {
    return this.#leaving.size;
  }

  /** Before every thread is asked for an answer; give the number to `endRound` when all have come. */
  beginRound(): number {
    return ++this.#round;
  }

  endRound(round: number): void {
    for (const [slot, leaving] of this.#leaving) {
      if (leaving.round >= round) continue;
      const isQuiet = this.open(slot) === 0;
      if (isQuiet && leaving.isQuiet) this.#release(slot);
      else if (isQuiet !== leaving.isQuiet)
        this.#leaving.set(slot, { round: this.#round, isQuiet });
    }
  }

  open(slot: number): number {
    return Atomics.load(this.#memory.open, slot);
  }

  /** In tenths of a second of the shared clock. */
  avoidedUntil(slot: number): number {
    return Atomics.load(this.#memory.avoided, slot);
  }

  counts(slot: number): SlotCounts {
    const sums = noCounts();
    const at = slot * COUNT_FIELDS;
    for (const counts of this.#memory.counts) {
      for (const field of FIELDS) sums[field] += counts[at + COUNT[field]] ?? 0;
    }
    return sums;
  }

  /** Counts of a forwarder before this one. */
  addCounts(slot: number, counts: SlotCounts): void {
    const own = this.#memory.counts.at(-1);
    if (own === undefined) return;
    const at = slot * COUNT_FIELDS;
    for (const field of FIELDS)
      own[at + COUNT[field]] = (own[at + COUNT[field]] ?? 0) + counts[field];
  }

  /** Of endpoints that are gone, or have no slot. */
  addGone(counts: SlotCounts): void {
    for (const field of FIELDS) this.#gone[field] += counts[field];
  }

  get goneCounts(): Readonly<SlotCounts> {
    return this.#gone;
  }

  /** Every slot with an identity. */
  *slots(): Generator<number> {
    for (let slot = 0; slot < this.#identities.length; slot++) {
      if (this.#identities[slot] !== undefined) yield slot;
    }
  }

  isLeaving(slot: number): boolean {
    return this.#leaving.has(slot);
  }

  /** A count of the threads as a whole. */
  threadCount(field: keyof typeof THREAD_COUNT): number {
    const at = MOST_SLOTS * COUNT_FIELDS + THREAD_COUNT[field];
    return this.#memory.counts.reduce((sum, counts) => sum + (counts[at] ?? 0), 0);
  }

  addThreadCount(field: keyof typeof THREAD_COUNT, count: number): void {
    const own = this.#memory.counts.at(-1);
    const at = MOST_SLOTS * COUNT_FIELDS + THREAD_COUNT[field];
    if (own !== undefined) own[at] = (own[at] ?? 0) + count;
  }

  #release(slot: number): void {
    const identity = this.#identities[slot];
    if (identity !== undefined) this.#left.delete(nameOf(identity));
    this.#leaving.delete(slot);
    this.addGone(this.counts(slot));
    const at = slot * COUNT_FIELDS;
    for (const counts of this.#memory.counts) counts.fill(0, at, at + COUNT_FIELDS);
    Atomics.store(this.#memory.avoided, slot, 0);
    this.#identities[slot] = undefined;
    this.#free.push(slot);
  }
}

export function noCounts(): SlotCounts {
  return {
    connections: 0,
    bytesToEndpoint: 0,
    bytesToClient: 0,
    connectMicroseconds: 0,
    refused: 0,
    timedOut: 0,
  };
}

function nameOf({ row, endpoint }: SlotIdentity): string {
  return `${row} ${endpoint}`;
}
