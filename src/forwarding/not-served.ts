import { type Cidr, contains, parseCidrs } from '../addresses/cidr.ts';
import { parseIp } from '../addresses/ip.ts';
import { type Claims, claimOf } from './claims.ts';
import type { ExternalIps } from './external-ips.ts';
import type { KeptRows } from './kept-rows.ts';
import {
  FAMILIES,
  type Family,
  type Forwarding,
  type Frontend,
  type NodeView,
  type NotServed,
} from './model.ts';
import type { Entry } from './register.ts';

export type NotServedReason = NotServed['reason'];

export const NOT_SERVED_REASONS: readonly NotServedReason[] = [
  'other-service',
  'service-range',
  'outside-ranges',
  'api-server',
  'host-socket',
];

/** A claimed address that this node does not serve. */
export interface NotServedFrontend {
  readonly row: Forwarding;
  readonly frontend: Frontend;
  readonly notServed: NotServed;
}

type Counts = Readonly<Record<NotServedReason, number>>;

const NONE: Counts = {
  'other-service': 0,
  'service-range': 0,
  'outside-ranges': 0,
  'api-server': 0,
  'host-socket': 0,
};

/** Marks unserved frontends of rows, and tracks the Services that have any. */
export class NotServedRows {
  readonly #claims: Claims;
  readonly #externalIps: ExternalIps;
  readonly #clusterIps = new ClusterIps();
  /** Keyed by frontend list: rows that differ only in endpoints share it. */
  readonly #countsOf = new WeakMap<readonly Frontend[], Counts>();
  readonly #entries: Record<Family, Map<Entry, Counts>> = { IPv4: new Map(), IPv6: new Map() };
  #total: Counts = NONE;

  constructor(claims: Claims, externalIps: ExternalIps) {
    this.#claims = claims;
    this.#externalIps = externalIps;
  }

  /** Every Service must be added again afterwards. */
  setView(view: NodeView): void {
    this.#externalIps.setView(view);
    this.#clusterIps.setView(view);
  }

  /** Number of unserved addresses by reason. Maintained, because each probe reads it. */
  counts(): Counts {
    return this.#total;
  }

  /** The first ones by Service name, in turns of namespaces: many of one must not hide those of another. */
  first(most: number): readonly NotServedFrontend[] {
    const entries = new Set(FAMILIES.flatMap((family) => [...this.#entries[family].keys()]));
    const sorted = [...entries].sort((a, b) => (a.name < b.name ? -1 : 1));
    const lanes = Map.groupBy(sorted, ({ name }) => name.slice(0, name.indexOf('/')));
    const turns = new Set([...lanes.values()].map((entries) => this.#frontendsOf(entries)));
    const found: NotServedFrontend[] = [];
    // An iterator that has had its turn goes to the end of the set, where this loop meets it again.
    for (const lane of turns) {
      if (found.length === most) break;
      turns.delete(lane);
      const { value, done } = lane.next();
      if (done) continue;
      found.push(value);
      turns.add(lane);
    }
    return found;
  }

  *#frontendsOf(entries: readonly Entry[]): Generator<NotServedFrontend, undefined> {
    for (const { rows } of entries) {
      for (const row of rows) {
        for (const frontend of this.#countsOf.has(row.frontends) ? row.frontends : []) {
          const { notServed } = frontend;
          if (notServed) yield { row, frontend, notServed };
        }
      }
    }
    return undefined;
  }

  /** Rows of a Service in one family, with unserved frontends marked. */
  mark(
    rows: readonly Forwarding[],
    place: { readonly entry: Entry; readonly family: Family },
    kept?: KeptRows,
  ): readonly Forwarding[] {
    const { entry, family } = place;
    const isConcerned = this.#externalIps.concerns(entry);
    // All rows of a Service in a family have the same cluster IP.
    const clusterIp = this.#clusterIps.notServed(rows[0]);
    // Fast path: one port and no rival.
    if (rows.length < 2 && !this.#claims.isDisputed && !isConcerned && !clusterIp) {
      this.#note(entry, family, NONE);
      return rows;
    }
    const taken = new Set<string>();
    const marked = rows.map((row) => {
      const own = ownLosses(row, taken);
      const mark = () => this.#marked(row, { name: entry.name, own, isConcerned, clusterIp });
      return kept?.withLosses(row, mark) ?? mark();
    });
    let counts = NONE;
    for (const { frontends } of marked) {
      const more = this.#countsOf.get(frontends);
      if (more !== undefined) counts = added(counts, more, 1);
    }
    this.#note(entry, family, counts);
    return marked;
  }

  #note(entry: Entry, family: Family, counts: Counts): void {
    const entries = this.#entries[family];
    const before = entries.get(entry);
    if (counts === NONE) entries.delete(entry);
    else entries.set(entry, counts);
    if (before !== undefined) this.#total = added(this.#total, before, -1);
    if (counts !== NONE) this.#total = added(this.#total, counts, 1);
  }

  #marked(row: Forwarding, circumstances: Circumstances): Forwarding {
    const why = row.frontends.map((frontend) => this.#why(row, frontend, circumstances));
    if (why.every((notServed) => notServed === undefined)) return row;
    const frontends = row.frontends.map((frontend, index) => {
      const notServed = why[index];
      return notServed === undefined ? frontend : { ...frontend, notServed };
    });
    this.#countsOf.set(frontends, countsOf(why));
    return { ...row, frontends };
  }

  /** The first Service in order has the address, and its first port. */
  #why(
    { id }: Forwarding,
    frontend: Frontend,
    circumstances: Circumstances,
  ): NotServed | undefined {
    if (circumstances.clusterIp && frontend.kind === 'cluster-ip') return circumstances.clusterIp;
    const winner = this.#claims.lostTo(claimOf(id, frontend), circumstances.name);
    if (winner !== undefined) return { reason: 'other-service', service: winner.service };
    const isOwn =
      frontend.kind === 'node-port' ? circumstances.own.nodePort : circumstances.own.port;
    if (isOwn) return { reason: 'other-service', service: circumstances.name };
    if (!circumstances.isConcerned || frontend.kind !== 'external-ip') return undefined;
    return this.#externalIps.notServed({ id, frontend }, this.#claims);
  }
}

interface Circumstances {
  /** `namespace/name` of the Service. */
  readonly name: string;
  readonly own: OwnLosses;
  /** Whether the rules for external IPs apply. */
  readonly isConcerned: boolean;
  /** Why the cluster IP is not served, whoever else claims it. */
  readonly clusterIp: NotServed | undefined;
}

/** Whether an earlier port of the same Service has the number. */
interface OwnLosses {
  readonly port: boolean;
  readonly nodePort: boolean;
}

function ownLosses({ id, frontends }: Forwarding, taken: Set<string>): OwnLosses {
  const isTaken = (frontend: Frontend | undefined): boolean => {
    if (frontend === undefined) return false;
    const claim = `${frontend.kind === 'node-port'} ${id.protocol} ${frontend.port}`;
    return taken.size === taken.add(claim).size;
  };
  const [first, last] = [frontends[0], frontends.at(-1)];
  return { port: isTaken(first), nodePort: last?.kind === 'node-port' && isTaken(last) };
}

function countsOf(why: readonly (NotServed | undefined)[]): Counts {
  const counts: Record<NotServedReason, number> = { ...NONE };
  for (const notServed of why) if (notServed) counts[notServed.reason]++;
  return counts;
}

function added(to: Counts, counts: Counts, sign: 1 | -1): Counts {
  const total: Record<NotServedReason, number> = { ...to };
  for (const reason of NOT_SERVED_REASONS) total[reason] += sign * counts[reason];
  return total;
}

/**
 * Which cluster IPs are served. A machine outside of the cluster serves those of its configured
 * ranges only: otherwise whoever administers the cluster could take its traffic to any address.
 */
class ClusterIps {
  /** Undefined: every cluster IP is served. */
  #ranges: readonly Cidr[] | undefined;
  #notServed: NotServed = { reason: 'outside-ranges', ranges: [] };

  setView({ onlyServiceRanges, serviceRanges }: NodeView): void {
    this.#ranges = onlyServiceRanges ? parseCidrs(serviceRanges) : undefined;
    this.#notServed = { reason: 'outside-ranges', ranges: serviceRanges };
  }

  /** Why the cluster IP of a row is not served; undefined: no objection. */
  notServed(row: Forwarding | undefined): NotServed | undefined {
    if (this.#ranges === undefined) return undefined;
    const address = row?.frontends.find(({ kind }) => kind === 'cluster-ip')?.address;
    if (address === undefined) return undefined;
    const ip = parseIp(address);
    const isInside = ip !== undefined && this.#ranges.some((range) => contains(range, ip));
    return isInside ? undefined : this.#notServed;
  }
}
