import type { EndpointList, Family, ServicePortKey } from '../../../forwarding/model.ts';
import type {
  WireChange,
  WireEndpoint,
  WireFrontend,
  WireListChange,
  WireRow,
} from '../protocol.ts';
import { RowDigest } from '../row-digest.ts';
import { type Claim, FrontendIndex, type FrontendKey } from './frontend-index.ts';
import type { FrontendQuestion } from './messages.ts';

export const LISTS: readonly EndpointList[] = ['cluster', 'local'];

/** A row as the forwarder has it. */
export interface Row {
  readonly key: ServicePortKey;
  readonly family: Family;
  readonly affinitySeconds: number;
  readonly frontends: readonly WireFrontend[];
  readonly endpoints: Readonly<Record<EndpointList, ReadonlySet<WireEndpoint>>>;
}

/** What must follow from a change of rows. Called after the change, in its order. */
export interface RowListener {
  /** Lookups of it may have another result. */
  frontendChanged(frontend: FrontendKey): void;
  endpointsChanged(row: Row, lists: Readonly<Record<EndpointList, WireListChange>>): void;
  affinityChanged(row: Row): void;
  rowDeleted(row: Row): void;
}

interface StoredRow extends Row {
  affinitySeconds: number;
  frontends: readonly WireFrontend[];
  readonly endpoints: Record<EndpointList, Set<WireEndpoint>>;
  readonly digest: RowDigest;
}

/** A change of a row that is not there. */
class UnknownRowError extends Error {
  override readonly name = 'UnknownRowError';
}

/** The rows. The cost of a change is that of what it names. */
export class RowStore {
  readonly #listener: RowListener;
  readonly #rows = new Map<ServicePortKey, StoredRow>();
  readonly #frontends = new FrontendIndex<StoredRow>();
  /** There are few kinds of treatments, which all frontends share: JSON has a copy for each. */
  readonly #treatments = new Map<string, WireFrontend['treatments']>();

  constructor(listener: RowListener) {
    this.#listener = listener;
  }

  get rowCount(): number {
    return this.#rows.size;
  }

  apply(change: WireChange): void {
    if ('set' in change) this.#set(change.set);
    else if ('delete' in change) this.#delete(change.delete);
    else this.#change(change);
  }

  find(question: Pick<FrontendQuestion, 'address' | 'port'>): Claim<Row> | undefined {
    return this.#frontends.find(question);
  }

  row(key: ServicePortKey): Row | undefined {
    return this.#rows.get(key);
  }

  keys(): IterableIterator<ServicePortKey> {
    return this.#rows.keys();
  }

  /** Undefined: it is not there any more. */
  digest(key: ServicePortKey): string | undefined {
    return this.#rows.get(key)?.digest.text();
  }

  #set(wanted: WireRow): void {
    const row = this.#rows.get(wanted.key) ?? this.#added(wanted);
    this.#setFrontends(row, wanted.frontends);
    this.#setAffinity(row, wanted.affinitySeconds);
    this.#changeEndpoints(row, {
      cluster: difference(row.endpoints.cluster, wanted.cluster),
      local: difference(row.endpoints.local, wanted.local),
    });
  }

  #added({ key, affinitySeconds }: WireRow): StoredRow {
    const row: StoredRow = {
      key,
      family: key.endsWith('/IPv6') ? 'IPv6' : 'IPv4',
      affinitySeconds,
      frontends: [],
      endpoints: { cluster: new Set(), local: new Set() },
      digest: new RowDigest(),
    };
    row.digest.addAffinity(affinitySeconds);
    this.#rows.set(key, row);
    return row;
  }

  #delete(key: ServicePortKey): void {
    const row = this.#rows.get(key);
    if (row === undefined) return;
    this.#setFrontends(row, []);
    this.#rows.delete(key);
    this.#listener.rowDeleted(row);
  }

  #change(change: Extract<WireChange, { readonly change: ServicePortKey }>): void {
    const row = this.#rows.get(change.change);
    if (row === undefined) throw new UnknownRowError(`no row ${change.change} to change`);
    if (change.frontends !== undefined) this.#setFrontends(row, change.frontends);
    if (change.affinitySeconds !== undefined) this.#setAffinity(row, change.affinitySeconds);
    const { cluster = NO_CHANGE, local = NO_CHANGE } = change;
    this.#changeEndpoints(row, { cluster, local });
  }

  #setFrontends(row: StoredRow, frontends: readonly WireFrontend[]): void {
    const changed = new Set<FrontendKey>();
    for (const frontend of row.frontends) {
      row.digest.removeFrontend(frontend);
      changed.add(this.#frontends.remove({ row, frontend }));
    }
    row.frontends = frontends.map((frontend) => this.#shared(frontend));
    for (const frontend of row.frontends) {
      row.digest.addFrontend(frontend);
      changed.add(this.#frontends.add({ row, frontend }));
    }
    for (const key of changed) this.#listener.frontendChanged(key);
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
    this.#listener.affinityChanged(row);
  }

  /** What is added already, or not there to be removed, is passed over. */
  #changeEndpoints(row: StoredRow, wanted: Readonly<Record<EndpointList, WireListChange>>): void {
    const done = { cluster: takeIn(row, 'cluster', wanted), local: takeIn(row, 'local', wanted) };
    const isChanged = LISTS.some((list) => done[list].added.length + done[list].removed.length > 0);
    if (isChanged) this.#listener.endpointsChanged(row, done);
  }
}

const NO_CHANGE: WireListChange = { added: [], removed: [] };

function takeIn(
  { endpoints, digest }: StoredRow,
  list: EndpointList,
  wanted: Readonly<Record<EndpointList, WireListChange>>,
): WireListChange {
  const set = endpoints[list];
  const removed = wanted[list].removed.filter((endpoint) => set.delete(endpoint));
  const added: WireEndpoint[] = [];
  for (const endpoint of wanted[list].added) {
    if (set.has(endpoint)) continue;
    set.add(endpoint);
    added.push(endpoint);
  }
  for (const endpoint of removed) digest.removeEndpoint(list, endpoint);
  for (const endpoint of added) digest.addEndpoint(list, endpoint);
  return { added, removed };
}

function difference(
  before: ReadonlySet<WireEndpoint>,
  after: readonly WireEndpoint[],
): WireListChange {
  if (before.size === 0) return { added: after, removed: [] };
  const wanted = new Set(after);
  return {
    added: [...wanted].filter((endpoint) => !before.has(endpoint)),
    removed: [...before].filter((endpoint) => !wanted.has(endpoint)),
  };
}
