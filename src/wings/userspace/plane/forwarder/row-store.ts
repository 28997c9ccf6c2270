import { Shares } from '../../../../dataplanes/shared/shares.ts';
import type { EndpointList, Family, ServicePortKey } from '../../../../forwarding/model.ts';
import {
  familyOf,
  namespaceOf,
  type WireChange,
  type WireEndpoint,
  type WireFrontend,
  type WireListChange,
  type WireRow,
} from '../forwarder-protocol.ts';
import { inGroups } from '../in-groups.ts';
import { DECLINED, frontendText, RowDigest } from '../row-digest.ts';
import { frontendKey } from './address-key.ts';
import { type Affinity, type AffinityRow, LISTS } from './affinity.ts';
import { MOST_FRONTENDS, MOST_ROWS } from './row-memory.ts';
import type { RowWriter } from './row-writer.ts';
import type { SlotTable } from './slot-table.ts';

/** A row as the forwarder has it. */
export interface Row extends AffinityRow {
  readonly family: Family;
  /** In the memory that all threads share. */
  readonly number: number;
  readonly frontends: readonly WireFrontend[];
  /** The slots of the endpoints of both lists. */
  readonly slots: ReadonlyMap<WireEndpoint, number>;
}

interface StoredRow extends Row {
  affinitySeconds: number;
  frontends: readonly WireFrontend[];
  readonly slots: Map<WireEndpoint, number>;
  readonly digest: RowDigest;
}

export interface RowStoreOptions {
  readonly writer: RowWriter;
  readonly slots: SlotTable;
  readonly affinity: Affinity;
  /** Attempts to connect to endpoints that left their rows must go on to others. */
  readonly onGone: (slots: readonly number[]) => void;
}

type ListChanges = Readonly<Record<EndpointList, WireListChange>>;

/** Threads that look for an endpoint wait while a write goes on. */
const ENDPOINTS_PER_WRITE = 2_000;

/**
 * The rows. The cost of a change is that of what it names. A row for which there is no room is
 * declined: nothing of it changes until it is set anew. nftables serves it meanwhile, so others are
 * never worse off for it.
 */
export class RowStore {
  readonly #of: RowStoreOptions;
  readonly #rows = new Map<ServicePortKey, StoredRow>();
  readonly #declined = new Set<ServicePortKey>();
  readonly #byNumber: (StoredRow | undefined)[] = [];
  readonly #rowShares = new Shares(MOST_ROWS - 1);
  readonly #frontendShares = new Shares(MOST_FRONTENDS - 1);
  /** There are few kinds of treatments, which all frontends share: JSON has a copy for each. */
  readonly #treatments = new Map<string, WireFrontend['treatments']>();

  constructor(options: RowStoreOptions) {
    this.#of = options;
  }

  apply(change: WireChange): void {
    if ('set' in change) this.#set(change.set);
    else if ('delete' in change) this.#delete(change.delete);
    else this.#change(change);
  }

  /** Its change failed, or there is no room for it. */
  decline(key: ServicePortKey): void {
    this.#declined.add(key);
  }

  isDeclined(key: ServicePortKey): boolean {
    return this.#declined.has(key);
  }

  row(key: ServicePortKey): Row | undefined {
    return this.#rows.get(key);
  }

  withNumber(number: number): Row | undefined {
    return this.#byNumber[number];
  }

  hasEndpoint(row: Row, list: EndpointList, endpoint: WireEndpoint): boolean {
    const slot = row.slots.get(endpoint);
    return slot !== undefined && this.#of.writer.has(list, slot);
  }

  *digests(): Generator<readonly [key: ServicePortKey, digest: string]> {
    for (const key of this.#declined) yield [key, DECLINED];
    for (const { key, digest } of this.#rows.values()) {
      if (!this.#declined.has(key)) yield [key, digest.text()];
    }
  }

  #set({ key, frontends, affinitySeconds, cluster, local }: WireRow): void {
    this.#declined.delete(key);
    const row = this.#rows.get(key) ?? this.#added(key);
    if (row === undefined) return;
    const lists = this.#difference(row, { cluster, local });
    this.#change({ change: key, frontends, affinitySeconds, ...lists });
  }

  #added(key: ServicePortKey): StoredRow | undefined {
    const namespace = namespaceOf(key);
    const hasRoom = this.#rowShares.hasRoom(namespace, 1);
    const number = hasRoom ? this.#of.writer.newRow(key) : undefined;
    if (number === undefined) {
      this.decline(key);
      return undefined;
    }
    this.#rowShares.change(namespace, 1);
    const family = familyOf(key);
    const digest = new RowDigest();
    const affinitySeconds = 0;
    digest.add('affinity', String(affinitySeconds));
    const lists = { frontends: [], slots: new Map<WireEndpoint, number>() };
    const row: StoredRow = { key, family, number, affinitySeconds, ...lists, digest };
    this.#rows.set(key, row);
    this.#byNumber[number] = row;
    return row;
  }

  #delete(key: ServicePortKey): void {
    this.#declined.delete(key);
    const row = this.#rows.get(key);
    if (row === undefined) return;
    this.#setFrontends(row, []);
    this.#changeEndpoints(row, this.#difference(row, { cluster: [], local: [] }));
    this.#of.affinity.forgetRow(row);
    this.#rows.delete(key);
    this.#rowShares.change(namespaceOf(key), -1);
    this.#byNumber[row.number] = undefined;
    this.#of.writer.write(() => this.#of.writer.clearRow(row.number));
    this.#of.slots.afterRound(() => this.#of.writer.freeRow(row.number));
  }

  #change(change: Extract<WireChange, { readonly change: ServicePortKey }>): void {
    const row = this.#rows.get(change.change);
    if (row === undefined) this.decline(change.change);
    if (row === undefined || this.#declined.has(row.key)) return;
    if (change.affinitySeconds !== undefined) this.#setAffinity(row, change.affinitySeconds);
    const { cluster = NO_CHANGE, local = NO_CHANGE } = change;
    this.#changeEndpoints(row, { cluster, local });
    // Last: a new row is found when it has its endpoints.
    if (change.frontends !== undefined && !this.#declined.has(row.key))
      this.#setFrontends(row, change.frontends);
  }

  #setFrontends(row: StoredRow, frontends: readonly WireFrontend[]): void {
    const [namespace, more] = [namespaceOf(row.key), frontends.length - row.frontends.length];
    if (more > 0 && !this.#frontendShares.hasRoom(namespace, more)) {
      this.decline(row.key);
      return;
    }
    this.#frontendShares.change(namespace, more);
    for (const frontend of row.frontends) row.digest.remove('frontend', frontendText(frontend));
    const before = row.frontends;
    row.frontends = frontends.map((frontend) => this.#shared(frontend));
    for (const frontend of row.frontends) row.digest.add('frontend', frontendText(frontend));
    const { writer } = this.#of;
    writer.write(() => {
      for (const frontend of before) {
        writer.removeFrontend(row.number, frontendKey(row.family, frontend));
      }
      for (const frontend of row.frontends) {
        writer.addFrontend(row.number, frontendKey(row.family, frontend), frontend.treatments);
      }
    });
  }

  #shared({ address, port, treatments }: WireFrontend): WireFrontend {
    const kind = JSON.stringify(treatments);
    const known = this.#treatments.get(kind);
    if (known === undefined) this.#treatments.set(kind, treatments);
    return { address, port, treatments: known ?? treatments };
  }

  #setAffinity(row: StoredRow, seconds: number): void {
    if (seconds === row.affinitySeconds) return;
    row.digest.remove('affinity', String(row.affinitySeconds));
    row.affinitySeconds = seconds;
    row.digest.add('affinity', String(seconds));
    this.#of.writer.write(() => this.#of.writer.setSticky(row.number, seconds > 0));
    if (seconds === 0) this.#of.affinity.forgetRow(row);
  }

  /** What is added already, or not there to be removed, is passed over. */
  #changeEndpoints(row: StoredRow, wanted: ListChanges): void {
    const added = this.#room(row, wanted);
    if (added === undefined) {
      this.decline(row.key);
      return;
    }
    const removed = ofBoth((list) => this.#there(row, list, wanted));
    // Added first: at no moment is a list empty that has endpoints before and after.
    for (const list of LISTS) this.#add(row, list, added[list]);
    for (const list of LISTS) this.#remove(row, list, removed[list]);
    this.#release(row, new Set([...removed.cluster, ...removed.local]));
  }

  #add(row: StoredRow, list: EndpointList, endpoints: readonly WireEndpoint[]): void {
    const { writer, slots } = this.#of;
    for (const group of inGroups(endpoints, ENDPOINTS_PER_WRITE)) {
      const added = group.map((endpoint) => {
        const slot = row.slots.get(endpoint) ?? slots.take({ row: row.key, endpoint });
        row.slots.set(endpoint, slot);
        row.digest.add(list, endpoint);
        return slot;
      });
      writer.write(() => {
        for (const slot of added) writer.add(row.number, list, slot);
      });
    }
  }

  #remove(row: StoredRow, list: EndpointList, endpoints: readonly WireEndpoint[]): void {
    const { writer, affinity } = this.#of;
    for (const group of inGroups(endpoints, ENDPOINTS_PER_WRITE)) {
      const removed = group.map((endpoint) => {
        row.digest.remove(list, endpoint);
        return row.slots.get(endpoint) as number;
      });
      writer.write(() => {
        for (const slot of removed) writer.remove(row.number, list, slot);
      });
      for (const slot of removed) affinity.forgetSlot(row, list, slot);
    }
  }

  /** Those of the endpoints that left both lists. */
  #release(row: StoredRow, endpoints: ReadonlySet<WireEndpoint>): void {
    const { writer, slots, onGone } = this.#of;
    const inUse: number[] = [];
    for (const endpoint of endpoints) {
      const slot = row.slots.get(endpoint) as number;
      if (LISTS.some((list) => writer.has(list, slot))) continue;
      row.slots.delete(endpoint);
      slots.leave(slot);
      // A thread counts a connection before it looks whether its endpoint is still there.
      if (slots.open(slot) > 0) inUse.push(slot);
    }
    if (inUse.length > 0) onGone(inUse);
  }

  #there(row: Row, list: EndpointList, wanted: ListChanges): WireEndpoint[] {
    const added = new Set(wanted[list].added);
    const removed = wanted[list].removed.filter(
      (each) => this.hasEndpoint(row, list, each) && !added.has(each),
    );
    return [...new Set(removed)];
  }

  /** What is really added, if there is room for all of it. */
  #room(row: Row, wanted: ListChanges): Record<EndpointList, WireEndpoint[]> | undefined {
    const { writer, slots } = this.#of;
    const all = ofBoth((list) => [
      ...new Set(wanted[list].added.filter((each) => !this.hasEndpoint(row, list, each))),
    ]);
    const fresh = new Set([...all.cluster, ...all.local].filter((each) => !row.slots.has(each)));
    if (!slots.hasRoom(namespaceOf(row.key), fresh.size)) return undefined;
    let isReserved = true;
    writer.write(() => {
      isReserved = LISTS.every((list) => writer.reserve(row.number, list, all[list].length));
    });
    return isReserved ? all : undefined;
  }

  #difference(row: Row, after: Pick<WireRow, EndpointList>): ListChanges {
    return ofBoth((list) => {
      const kept = new Set(after[list]);
      const left = [...row.slots.keys()].filter((endpoint) => !kept.has(endpoint));
      const removed = left.filter((endpoint) => this.hasEndpoint(row, list, endpoint));
      return { added: after[list], removed };
    });
  }
}

const NO_CHANGE: WireListChange = { added: [], removed: [] };

function ofBoth<T>(countOf: (list: EndpointList) => T): Record<EndpointList, T> {
  return { cluster: countOf('cluster'), local: countOf('local') };
}
