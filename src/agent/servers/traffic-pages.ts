import type { DataPlane, EndpointCount, RejectedCount } from '../../dataplanes/contract.ts';
import {
  type Forwarding,
  type Frontend,
  type ServicePortKey,
  SOURCE_CLASSES,
  servicePortKey,
} from '../../forwarding/model.ts';
import type { ForwardingTable } from '../../forwarding/table.ts';
import { firstAfter } from './row-pages.ts';

/** Figures with the time that reading them took, by which a reader paces itself. */
export interface Timed<T> {
  readonly tookMs: number;
  readonly value: T;
}

/** A service port with the addresses at which it is served; an empty address is a node port. */
export type ServedPort = readonly [
  key: ServicePortKey,
  frontends: readonly (readonly [address: string, port: number])[],
  /** What happens to some clients instead of forwarding; undefined: all are forwarded. */
  verdict?: Verdict,
];

/** `reject`: no endpoint. `drop`: none on this node, and the policy is Local. */
export type Verdict = 'reject' | 'drop';

export interface ServedPage {
  readonly ports: readonly ServedPort[];
  /** The last Service of this page; undefined: no page follows. */
  readonly lastService?: string;
  /** Of the first page: of all of them, at that moment. */
  readonly version?: string;
  /** All are as they were at the version that the reader named, so none is here. */
  readonly isUnchanged?: true;
}

export interface SomeCounts {
  readonly counts: readonly EndpointCount[];
  /** Service ports without any endpoint. */
  readonly empty: readonly ServicePortKey[];
  /** Service ports that were not read, because together they have too many endpoints. */
  readonly leftOut: readonly ServicePortKey[];
}

/** Service ports per page: about 75 kB of JSON, rendered in one event loop iteration. */
const PORTS_PER_PAGE = 1_000;
/** Endpoints of one question: a few milliseconds where each has to be looked up in the kernel. */
const MOST_ENDPOINTS = 2_000;

export interface TrafficPagesOptions {
  /** Of this run of the agent: a version of another run says nothing. */
  readonly run: string;
  readonly table: () => ForwardingTable;
  readonly plane: Pick<DataPlane, 'read'>;
  /** Undefined: conntrack events tell which Services are busy. */
  readonly connectionTotals?: () => Promise<ReadonlyMap<ServicePortKey, number>>;
  readonly monotonicMs: () => number;
}

/** What `fairlead top` asks. An answer costs what it is about, and without a question nothing is kept. */
export class TrafficPages {
  readonly #options: TrafficPagesOptions;
  /** Sorted once for all pages. */
  #names: readonly string[] | undefined;

  constructor(options: TrafficPagesOptions) {
    this.#options = options;
  }

  /** The first page, or none if all are as they were at this version. */
  servedSince(version?: string): ServedPage {
    const now = `${this.#options.run}-${this.#options.table().contents.frontendsVersion}`;
    if (version === now) return { ports: [], version: now, isUnchanged: true };
    this.#names = undefined;
    return { ...this.servedAfter(), version: now };
  }

  /** The page behind this Service. */
  servedAfter(afterService?: string): ServedPage {
    const table = this.#options.table();
    this.#names ??= table.serviceNames();
    const names = this.#names;
    const ports: ServedPort[] = [];
    let index = afterService === undefined ? 0 : firstAfter(names, afterService);
    for (; index < names.length && ports.length < PORTS_PER_PAGE; index += 1) {
      for (const row of table.ofService(names[index] ?? '')) ports.push(servedPort(row));
    }
    const lastService = index < names.length ? names[index - 1] : undefined;
    if (lastService === undefined) this.#names = undefined;
    return lastService === undefined ? { ports } : { ports, lastService };
  }

  /** Of some Services, `namespace/name`. */
  servedOf(services: readonly string[]): ServedPage {
    const table = this.#options.table();
    return { ports: services.flatMap((name) => table.ofService(name).map(servedPort)) };
  }

  async counts(keys: readonly ServicePortKey[]): Promise<Timed<SomeCounts>> {
    const rows: Forwarding[] = [];
    const leftOut: ServicePortKey[] = [];
    const empty: ServicePortKey[] = [];
    let endpointCount = 0;
    for (const key of keys) {
      const row = this.#row(key);
      if (row === undefined) continue;
      const size = row.clusterEndpoints.length + row.localEndpoints.length;
      if (size === 0) empty.push(key);
      else if (endpointCount + size > MOST_ENDPOINTS) leftOut.push(key);
      else {
        rows.push(row);
        endpointCount += size;
      }
    }
    const wanted = new Set(rows.map(({ id }) => servicePortKey(id)));
    return await this.#timed(async () => {
      const counts = (await this.#options.plane.read('counters', rows)) ?? [];
      return { counts: counts.filter(({ service }) => wanted.has(service)), empty, leftOut };
    });
  }

  /** Undefined: the mode does not count them. */
  async rejected(): Promise<Timed<readonly RejectedCount[] | undefined>> {
    return await this.#timed(async () => await this.#options.plane.read('rejected'));
  }

  /** Undefined: conntrack events tell which Services are busy. */
  async totals(): Promise<Timed<readonly (readonly [ServicePortKey, number])[] | undefined>> {
    return await this.#timed(async () => {
      const totals = await this.#options.connectionTotals?.();
      return totals && [...totals];
    });
  }

  #row(key: ServicePortKey): Forwarding | undefined {
    const [namespace = '', name = ''] = key.split('/');
    const [service = ''] = name.split(':');
    const rows = this.#options.table().ofService(`${namespace}/${service}`);
    return rows.find(({ id }) => servicePortKey(id) === key);
  }

  async #timed<T>(read: () => Promise<T>): Promise<Timed<T>> {
    const { monotonicMs } = this.#options;
    const startedAtMs = monotonicMs();
    const value = await read();
    return { tookMs: monotonicMs() - startedAtMs, value };
  }
}

function servedPort({ id, frontends }: Forwarding): ServedPort {
  const addresses: (readonly [string, number])[] = [];
  let verdict: Verdict | undefined;
  for (const frontend of frontends) {
    if (frontend.notServed !== undefined) continue;
    addresses.push([frontend.address, frontend.port]);
    if (verdict !== 'reject') verdict = verdictOf(frontend) ?? verdict;
  }
  const key = servicePortKey(id);
  return verdict === undefined ? [key, addresses] : [key, addresses, verdict];
}

/** The worst of all sources. */
function verdictOf({ outcomes }: Frontend): Verdict | undefined {
  let found: Verdict | undefined;
  for (const source of SOURCE_CLASSES) {
    const { action } = outcomes[source];
    if (action === 'reject') return 'reject';
    if (action === 'drop') found = 'drop';
  }
  return found;
}
