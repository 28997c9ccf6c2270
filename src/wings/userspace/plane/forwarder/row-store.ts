import { Shares } from '../../../../dataplanes/shared/shares.ts';
import type { EndpointList, ServicePortKey } from '../../../../forwarding/model.ts';
import type {
  WireChange,
  WireEndpoint,
  WireFrontend,
  WireListChange,
  WireRow,
} from '../protocol.ts';
import { DECLINED, RowDigest } from '../row-digest.ts';
import { familyOf, namespaceOf } from '../row-key.ts';
import { type Claimant, FrontendClaims } from './frontend-claims.ts';
import { MOST_FRONTENDS, MOST_ROWS } from './row-memory.ts';
import type { RowWriter } from './row-writer.ts';
import type { SlotTable } from './slot-table.ts';

export const LISTS: readonly EndpointList[] = ['cluster', 'local'];

/** A row as the forwarder has it. */
export interface Row extends Claimant {
  readonly affinitySeconds: number;
  /** The slots of the endpoints of both lists. */
  readonly slots: ReadonlyMap<WireEndpoint, number>;
}

/** What must follow from a change of rows. */
export interface RowListener {
  /** These slots left a list of the row; `gone`: those that left both. */
  slotsLeft(row: Row, left: Readonly<Record<EndpointList, number[]>>, gone: number[]): void;
  /** Its affinity ended, or the row did. */
  affinityEnded(row: Row): void;
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
  readonly listener: RowListener;
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
  readonly #claims: FrontendClaims;
  /** There are few kinds of treatments, which all frontends share: JSON has a copy for each. */
  readonly #treatments = new Map<string, WireFrontend['treatments']>();

  constructor(options: RowStoreOptions) {
    this.#of = options;
    this.#claims = new FrontendClaims(options.writer, (number) => this.withNumber(number));
  }

  get rowCount(): number {
    return this.#rows.size;
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

  #set(wanted: WireRow): void {
    this.#declined.delete(wanted.key);
    const row = this.#rows.get(wanted.key) ?? this.#added(wanted);
    if (row === undefined) return;
    this.#setAffinity(row, wanted.affinitySeconds);
    this.#changeEndpoints(row, {
      cluster: this.#difference(row, 'cluster', wanted),
      local: this.#difference(row, 'local', wanted),
    });
    // Last: a new row is found when it has its endpoints.
    if (!this.#declined.has(row.key)) this.#setFrontends(row, wanted.frontends);
  }

  #added({ key, affinitySeconds }: WireRow): StoredRow | undefined {
    const namespace = namespaceOf(key);
    const hasRoom = this.#rowShares.hasRoom(namespace, 1);
    const number = hasRoom ? this.#of.writer.newRow() : undefined;
    if (number === undefined) {
      this.decline(key);
      return undefined;
    }
    this.#rowShares.change(namespace, 1);
    const family = familyOf(key);
    const digest = new RowDigest();
    digest.addAffinity(affinitySeconds);
    const row = { key, family, number, affinitySeconds, frontends: [], slots: new Map(), digest };
    this.#of.writer.setSticky(number, affinitySeconds > 0);
    this.#rows.set(key, row as StoredRow);
    this.#byNumber[number] = row as StoredRow;
    return row as StoredRow;
  }

  #delete(key: ServicePortKey): void {
    this.#declined.delete(key);
    const row = this.#rows.get(key);
    if (row === undefined) return;
    this.#setFrontends(row, []);
    const all = (list: EndpointList): WireListChange => ({
      added: [],
      removed: [...row.slots.keys()].filter((endpoint) => this.hasEndpoint(row, list, endpoint)),
    });
    this.#changeEndpoints(row, { cluster: all('cluster'), local: all('local') });
    this.#of.listener.affinityEnded(row);
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
    for (const frontend of row.frontends) row.digest.removeFrontend(frontend);
    const before = row.frontends;
    row.frontends = frontends.map((frontend) => this.#shared(frontend));
    for (const frontend of row.frontends) row.digest.addFrontend(frontend);
    this.#of.writer.write(() => this.#claims.change(row, before));
  }

  #shared({ address, port, treatments }: WireFrontend): WireFrontend {
    const kind = JSON.stringify(treatments);
    const known = this.#treatments.get(kind);
    if (known === undefined) this.#treatments.set(kind, treatments);
    return { address, port, treatments: known ?? treatments };
  }

  #setAffinity(row: StoredRow, seconds: number): void {
    if (seconds === row.affinitySeconds) return;
    row.digest.removeAffinity(row.affinitySeconds);
    row.affinitySeconds = seconds;
    row.digest.addAffinity(seconds);
    this.#of.writer.write(() => this.#of.writer.setSticky(row.number, seconds > 0));
    if (seconds === 0) this.#of.listener.affinityEnded(row);
  }

  /** What is added already, or not there to be removed, is passed over. */
  #changeEndpoints(row: StoredRow, wanted: ListChanges): void {
    const added = this.#room(row, wanted);
    if (added === undefined) {
      this.decline(row.key);
      return;
    }
    const removed = {
      cluster: this.#there(row, 'cluster', wanted),
      local: this.#there(row, 'local', wanted),
    };
    // Added first: at no moment is a list empty that has endpoints before and after.
    for (const list of LISTS) this.#add(row, list, added[list]);
    const left = {
      cluster: this.#remove(row, 'cluster', removed.cluster),
      local: this.#remove(row, 'local', removed.local),
    };
    const gone = this.#release(row, new Set([...removed.cluster, ...removed.local]));
    if (left.cluster.length + left.local.length > 0) {
      this.#of.listener.slotsLeft(row, left, gone);
    }
  }

  #add(row: StoredRow, list: EndpointList, endpoints: readonly WireEndpoint[]): void {
    const { writer, slots } = this.#of;
    for (const group of inGroups(endpoints)) {
      const added = group.map((endpoint) => {
        const slot = row.slots.get(endpoint) ?? slots.take({ row: row.key, endpoint }, row.number);
        row.slots.set(endpoint, slot);
        row.digest.addEndpoint(list, endpoint);
        return slot;
      });
      writer.write(() => {
        for (const slot of added) writer.add(row.number, list, slot);
      });
    }
  }

  #remove(row: StoredRow, list: EndpointList, endpoints: readonly WireEndpoint[]): number[] {
    const { writer } = this.#of;
    const left: number[] = [];
    for (const group of inGroups(endpoints)) {
      const removed = group.map((endpoint) => {
        row.digest.removeEndpoint(list, endpoint);
        return row.slots.get(endpoint) as number;
      });
      writer.write(() => {
        for (const slot of removed) writer.remove(row.number, list, slot);
      });
      left.push(...removed);
    }
    return left;
  }

  /** The slots of those that left both lists. */
  #release(row: StoredRow, endpoints: ReadonlySet<WireEndpoint>): number[] {
    const { writer, slots } = this.#of;
    const gone: number[] = [];
    for (const endpoint of endpoints) {
      const slot = row.slots.get(endpoint) as number;
      if (LISTS.some((list) => writer.has(list, slot))) continue;
      row.slots.delete(endpoint);
      slots.leave(slot);
      gone.push(slot);
    }
    return gone;
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
    const added = (list: EndpointList) => [
      ...new Set(wanted[list].added.filter((each) => !this.hasEndpoint(row, list, each))),
    ];
    const all = { cluster: added('cluster'), local: added('local') };
    const fresh = new Set([...all.cluster, ...all.local].filter((each) => !row.slots.has(each)));
    if (!slots.hasRoom(namespaceOf(row.key), fresh.size)) return undefined;
    let isReserved = true;
    writer.write(() => {
      isReserved = LISTS.every((list) => writer.reserve(row.number, list, all[list].length));
    });
    return isReserved ? all : undefined;
  }

  #difference(row: Row, list: EndpointList, wanted: WireRow): WireListChange {
    const after = wanted[list];
    if (row.slots.size === 0) return { added: after, removed: [] };
    const kept = new Set(after);
    const before = [...row.slots.keys()].filter((each) => this.hasEndpoint(row, list, each));
    return { added: after, removed: before.filter((endpoint) => !kept.has(endpoint)) };
  }
}

const NO_CHANGE: WireListChange = { added: [], removed: [] };

function* inGroups(endpoints: readonly WireEndpoint[]): Generator<readonly WireEndpoint[]> {
  for (let from = 0; from < endpoints.length; from += ENDPOINTS_PER_WRITE) {
    yield endpoints.slice(from, from + ENDPOINTS_PER_WRITE);
  }
}
