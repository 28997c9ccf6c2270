import { Shares } from '../../../../dataplanes/shared/shares.ts';
import type { ServicePortKey } from '../../../../forwarding/model.ts';
import { encodeSocketAddress } from '../../../../linux/sockets/socket-address.ts';
import { namespaceOf, type WireEndpoint } from '../forwarder-protocol.ts';
import {
  ADDRESS_BYTES,
  COUNT,
  COUNT_FIELDS,
  MOST_SLOTS,
  type SharedMemory,
  THREAD_COUNT,
} from './slots.ts';

/** Whose slot it is. */
export interface SlotIdentity {
  readonly row: ServicePortKey;
  readonly endpoint: WireEndpoint;
}

/** Sums over all threads, by the names of `COUNT`. */
export type SlotCounts = Record<keyof typeof COUNT, number>;

export interface SlotTableOptions {
  readonly memory: Pick<SharedMemory, 'open' | 'avoided' | 'addresses'>;
  /** One of each thread, and the last one for counts of forwarders that handed over. */
  readonly counts: readonly Float64Array[];
  readonly mostSlots?: number | undefined;
}

interface Leaving {
  /** The round in which it left its row, or was first seen without connections. */
  round: number;
  isQuiet: boolean;
}

const NO_SLOT = 0;
const MS_PER_TENTH = 100;
const FIELDS = Object.keys(COUNT) as (keyof typeof COUNT)[];

/**
 * Which endpoint of which row has which slot of the shared memory. A slot whose endpoint left its row
 * keeps its identity while connections are open. It is reused after two rounds, each of which every
 * thread has answered: one after which no thread knows the endpoint, and one after which none has a
 * count of its last connection still to add.
 */
export class SlotTable {
  readonly #open: Int32Array;
  readonly #avoided: Int32Array;
  readonly #addresses: Buffer;
  readonly #counts: readonly Float64Array[];
  readonly #mostSlots: number;
  readonly #shares: Shares;
  /** By slot; the one of nobody is the first. */
  readonly #rows: (ServicePortKey | undefined)[] = [''];
  readonly #endpoints: (WireEndpoint | undefined)[] = [''];
  readonly #free: number[] = [];
  readonly #leaving = new Map<number, Leaving>();
  /** Slots that are leaving, by row and endpoint. */
  readonly #left = new Map<string, number>();
  readonly #gone: SlotCounts = noCounts();
  readonly #later: { readonly round: number; readonly act: () => void }[] = [];
  #round = 0;

  constructor({ memory, counts, mostSlots = MOST_SLOTS }: SlotTableOptions) {
    this.#open = new Int32Array(memory.open);
    this.#avoided = new Int32Array(memory.avoided);
    this.#addresses = Buffer.from(memory.addresses);
    this.#counts = counts;
    this.#mostSlots = mostSlots;
    this.#shares = new Shares(mostSlots - 1);
  }

  /** Endpoints that are leaving count too, as long as they have a slot. */
  hasRoom(namespace: string, count: number): boolean {
    return this.#shares.hasRoom(namespace, count);
  }

  /** There must be room. An endpoint that returns gets the slot it had, if it still is there. */
  take(identity: SlotIdentity): number {
    const former = this.#left.get(nameOf(identity));
    if (former === undefined) return this.#fresh(identity);
    this.#left.delete(nameOf(identity));
    this.#leaving.delete(former);
    return former;
  }

  /** For a connection to an endpoint that is in no row. Nobody's, if all are taken. */
  takeLeaving(identity: SlotIdentity): number {
    const former = this.#left.get(nameOf(identity));
    if (former !== undefined) return former;
    if (this.#free.length === 0 && this.#rows.length === this.#mostSlots) return NO_SLOT;
    const slot = this.#fresh(identity);
    this.leave(slot);
    return slot;
  }

  /** The endpoint left its row. */
  leave(slot: number): void {
    this.#leaving.set(slot, { round: this.#round, isQuiet: false });
    this.#left.set(nameOf(this.identity(slot)), slot);
  }

  /** Empty: it was reused, or has none. */
  identity(slot: number): SlotIdentity {
    return { row: this.#rows[slot] ?? '', endpoint: this.#endpoints[slot] ?? '' };
  }

  /** Acts when every thread has answered a round that begins after this. */
  afterRound(act: () => void): void {
    this.#later.push({ round: this.#round, act });
  }

  /** Before every thread is asked for an answer; give the number to `endRound` when all have come. */
  beginRound(): number {
    return ++this.#round;
  }

  endRound(round: number): void {
    while (this.#later[0] !== undefined && this.#later[0].round < round) this.#later.shift()?.act();
    for (const [slot, leaving] of this.#leaving) {
      if (leaving.round >= round) continue;
      const isQuiet = this.open(slot) === 0;
      if (isQuiet && leaving.isQuiet) this.#release(slot);
      else if (isQuiet !== leaving.isQuiet)
        this.#leaving.set(slot, { round: this.#round, isQuiet });
    }
  }

  open(slot: number): number {
    return Atomics.load(this.#open, slot);
  }

  /** For a connection that a thread is told to open: it may hear next that the endpoint has left. */
  addOpen(slot: number): void {
    Atomics.add(this.#open, slot, 1);
  }

  /** Of the shared clock. */
  avoidedUntilMs(slot: number): number {
    return Atomics.load(this.#avoided, slot) * MS_PER_TENTH;
  }

  counts(slot: number): SlotCounts {
    const sums = noCounts();
    this.#add(sums, slot);
    return sums;
  }

  /** Counts of a forwarder before this one. */
  addCounts(slot: number, counts: SlotCounts): void {
    const own = this.#counts.at(-1);
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

  /** Sums over all endpoints, also those that are gone. */
  sums(): SlotCounts {
    const sums = { ...this.#gone };
    for (const slot of this.slots()) this.#add(sums, slot);
    return sums;
  }

  /** Every slot that was ever used: has a count, or is avoided. */
  *slots(): Generator<number> {
    for (let slot = 0; slot < this.#rows.length; slot++) {
      if (this.#rows[slot] !== undefined && this.#isUsed(slot)) yield slot;
    }
  }

  isLeaving(slot: number): boolean {
    return this.#leaving.has(slot);
  }

  /** A count of the threads as a whole. */
  threadCount(field: keyof typeof THREAD_COUNT): number {
    const at = MOST_SLOTS * COUNT_FIELDS + THREAD_COUNT[field];
    return this.#counts.reduce((sum, counts) => sum + (counts[at] ?? 0), 0);
  }

  addThreadCount(field: keyof typeof THREAD_COUNT, count: number): void {
    const own = this.#counts.at(-1);
    const at = MOST_SLOTS * COUNT_FIELDS + THREAD_COUNT[field];
    if (own !== undefined) own[at] = (own[at] ?? 0) + count;
  }

  /** Most endpoints of a large cluster are never met on one node. */
  #isUsed(slot: number): boolean {
    if (this.open(slot) !== 0 || this.avoidedUntilMs(slot) !== 0) return true;
    const at = slot * COUNT_FIELDS;
    for (const counts of this.#counts) {
      for (let field = 0; field < COUNT_FIELDS; field++) if (counts[at + field] !== 0) return true;
    }
    return false;
  }

  #add(sums: SlotCounts, slot: number): void {
    const at = slot * COUNT_FIELDS;
    for (const counts of this.#counts) {
      for (const field of FIELDS) sums[field] += counts[at + COUNT[field]] ?? 0;
    }
  }

  #fresh({ row, endpoint }: SlotIdentity): number {
    const slot = this.#free.pop() ?? this.#rows.length;
    this.#rows[slot] = row;
    this.#endpoints[slot] = endpoint;
    this.#shares.change(namespaceOf(row), 1);
    const space = endpoint.indexOf(' ');
    const [address, port] = [endpoint.slice(0, space), Number(endpoint.slice(space + 1))];
    const at = slot * ADDRESS_BYTES;
    encodeSocketAddress(this.#addresses.subarray(at, at + ADDRESS_BYTES), { address, port });
    return slot;
  }

  #release(slot: number): void {
    const identity = this.identity(slot);
    this.#left.delete(nameOf(identity));
    this.#shares.change(namespaceOf(identity.row), -1);
    this.#leaving.delete(slot);
    this.addGone(this.counts(slot));
    const at = slot * COUNT_FIELDS;
    for (const counts of this.#counts) counts.fill(0, at, at + COUNT_FIELDS);
    Atomics.store(this.#avoided, slot, 0);
    this.#rows[slot] = undefined;
    this.#endpoints[slot] = undefined;
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
