import { Shares } from '../../../../dataplanes/shared/shares.ts';
import type { EndpointList, ServicePortKey } from '../../../../forwarding/model.ts';
import { namespaceOf } from '../forwarder-protocol.ts';

/** As in mode nftables: in total, and of one list an eighth, so that one Service leaves room for others. */
const MOST_CLIENTS = 262_144;
const MOST_CLIENTS_OF_A_LIST = 32_768;
/** Clients whose time is over that one connection forgets. */
const EXPIRED_PER_CONNECTION = 4;
/** The same for one tick, of all lists. */
const EXPIRED_PER_TICK = 8_192;
const LISTS_PER_TICK = 4_096;
const MS_PER_SECOND = 1_000;

export interface AffinityOptions {
  readonly nowMs: () => number;
  readonly mostClients?: number;
  readonly mostClientsOfAList?: number;
}

export const LISTS: readonly EndpointList[] = ['cluster', 'local'];

/** A row whose clients are remembered. */
export interface AffinityRow {
  readonly key: ServicePortKey;
  readonly affinitySeconds: number;
}

/** An entry as it is handed over. */
export interface AffinityEntry {
  readonly row: AffinityRow;
  readonly list: EndpointList;
  readonly client: string;
  readonly slot: number;
  readonly renewedAtMs: number;
}

type OfRow = Partial<Record<EndpointList, AffinityList>>;

/** Which endpoint a client had last, for rows with session affinity. */
export class Affinity {
  /** For so many clients. */
  readonly room: number;
  readonly #nowMs: () => number;
  readonly #mostOfAList: number;
  readonly #shares: Shares;
  readonly #rows = new Map<AffinityRow, OfRow>();
  /** Rows that the current sweep has still to visit. */
  #sweep: Iterator<[AffinityRow, OfRow]> = [][Symbol.iterator]();

  constructor({ nowMs, mostClients, mostClientsOfAList }: AffinityOptions) {
    this.#nowMs = nowMs;
    this.room = mostClients ?? MOST_CLIENTS;
    this.#mostOfAList = mostClientsOfAList ?? MOST_CLIENTS_OF_A_LIST;
    this.#shares = new Shares(this.room);
  }

  get clientCount(): number {
    return this.#shares.total;
  }

  /** Rows with a list that takes no more clients, sorted. */
  full(): ServicePortKey[] {
    const full: ServicePortKey[] = [];
    for (const [row, lists] of this.#rows) {
      if (LISTS.some((kind) => (lists[kind]?.size ?? 0) >= this.#mostOfAList)) full.push(row.key);
    }
    return full.sort();
  }

  slotOf(row: AffinityRow, kind: EndpointList, client: string): number | undefined {
    return this.#rows.get(row)?.[kind]?.slotOf(client, this.#notBeforeMs(row));
  }

  /** False: there is no room, or its time is over. Entries that are handed over come in their order. */
  remember({ row, list: kind, client, slot, renewedAtMs }: AffinityEntry): boolean {
    if (renewedAtMs < this.#notBeforeMs(row)) return false;
    const list = this.#listOf(row, kind);
    const namespace = namespaceOf(row.key);
    const expired = list.expire(this.#notBeforeMs(row), EXPIRED_PER_CONNECTION);
    this.#shares.change(namespace, -expired);
    if (!list.has(client)) {
      if (list.size >= this.#mostOfAList || !this.#shares.hasRoom(namespace, 1)) return false;
      this.#shares.change(namespace, 1);
    }
    list.remember(client, { slot, renewedAtMs });
    return true;
  }

  /** The endpoint left the list. */
  forgetSlot(row: AffinityRow, kind: EndpointList, slot: number): void {
    const forgotten = this.#rows.get(row)?.[kind]?.forgetSlot(slot) ?? 0;
    this.#shares.change(namespaceOf(row.key), -forgotten);
  }

  forgetRow(row: AffinityRow): void {
    for (const { size } of Object.values(this.#rows.get(row) ?? {})) {
      this.#shares.change(namespaceOf(row.key), -size);
    }
    this.#rows.delete(row);
  }

  /** Goes on with forgetting clients whose time is over, for a bounded time. */
  tick(): void {
    let clientsLeft = EXPIRED_PER_TICK;
    for (let visited = 0; visited < LISTS_PER_TICK && clientsLeft > 0; visited++) {
      const next = this.#sweep.next();
      if (next.done) {
        this.#sweep = this.#rows[Symbol.iterator]();
        return;
      }
      const [row, lists] = next.value;
      for (const list of Object.values(lists)) {
        const expired = list.expire(this.#notBeforeMs(row), clientsLeft);
        this.#shares.change(namespaceOf(row.key), -expired);
        clientsLeft -= expired;
      }
      if (Object.values(lists).every(({ size }) => size === 0)) this.#rows.delete(row);
    }
  }

  *entries(): Generator<AffinityEntry> {
    for (const [row, lists] of this.#rows) {
      for (const list of LISTS) {
        for (const [client, remembered] of lists[list]?.entries() ?? []) {
          yield { row, list, client, ...remembered };
        }
      }
    }
  }

  #notBeforeMs(row: AffinityRow): number {
    return this.#nowMs() - row.affinitySeconds * MS_PER_SECOND;
  }

  #listOf(row: AffinityRow, kind: EndpointList): AffinityList {
    const lists = this.#rows.get(row) ?? {};
    const list = lists[kind] ?? new AffinityList();
    lists[kind] = list;
    this.#rows.set(row, lists);
    return list;
  }
}

interface Remembered {
  readonly slot: number;
  readonly renewedAtMs: number;
}

/**
 * The clients of one list of endpoints. In the order in which they were renewed, so that the first one
 * is the first to expire: no timer for a client, and no search.
 */
class AffinityList {
  readonly #clients = new Map<string, Remembered>();
  readonly #clientsOfSlot = new Map<number, Set<string>>();

  get size(): number {
    return this.#clients.size;
  }

  /** Undefined: not remembered, or too long ago. */
  slotOf(client: string, notBeforeMs: number): number | undefined {
    const known = this.#clients.get(client);
    return known === undefined || known.renewedAtMs < notBeforeMs ? undefined : known.slot;
  }

  has(client: string): boolean {
    return this.#clients.has(client);
  }

  remember(client: string, { slot, renewedAtMs }: Remembered): void {
    this.forget(client);
    this.#clients.set(client, { slot, renewedAtMs });
    const ofSlot = this.#clientsOfSlot.get(slot);
    if (ofSlot === undefined) this.#clientsOfSlot.set(slot, new Set([client]));
    else ofSlot.add(client);
  }

  forget(client: string): void {
    const known = this.#clients.get(client);
    if (known === undefined) return;
    this.#clients.delete(client);
    const ofSlot = this.#clientsOfSlot.get(known.slot);
    ofSlot?.delete(client);
    if (ofSlot?.size === 0) this.#clientsOfSlot.delete(known.slot);
  }

  /** How many there were. Its cost is that of these clients. */
  forgetSlot(slot: number): number {
    const clients = this.#clientsOfSlot.get(slot);
    if (clients === undefined) return 0;
    for (const client of clients) this.#clients.delete(client);
    this.#clientsOfSlot.delete(slot);
    return clients.size;
  }

  /** Forgets the first ones that were renewed before; at most so many. Returns how many. */
  expire(beforeMs: number, most: number): number {
    let count = 0;
    for (const [client, { renewedAtMs }] of this.#clients) {
      if (renewedAtMs >= beforeMs || count >= most) break;
      this.forget(client);
      count++;
    }
    return count;
  }

  *entries(): Generator<readonly [client: string, remembered: Remembered]> {
    yield* this.#clients;
  }
}
