import type { NamespaceObject, ServiceObject, SliceObject } from '../cluster/objects.ts';
import { type Change, changesBetween, RowFinder } from './changes.ts';
import { Claims, claimOf, claimsOfPort } from './claims.ts';
import { compile } from './compile.ts';
import { EbpfChoices } from './ebpf-choices.ts';
import { KeptServices } from './kept-services.ts';
import {
  type Endpoint,
  FAMILIES,
  type Family,
  type Forwarding,
  type Frontend,
  type NodeView,
  type ServicePortId,
  type ServicePortKey,
  servicePortKey,
} from './model.ts';
import { type Entry, nameOf, Register, type SliceMove } from './register.ts';
import { hasSameClaims, isSameService } from './same-service.ts';
import { reachablePorts } from './service-ports.ts';
import { ServingEndpoints } from './serving.ts';
import { sharing } from './share.ts';
import { type Stale, StaleQueue } from './stale-queue.ts';

export type { Change } from './changes.ts';

/**
 * What this node should do, kept up to date object by object. A change of a slice recomputes the
 * ports of its Service in its family and looks at nothing else, however many Services there are;
 * and only when somebody asks, so that many changes of one Service cost as much as one.
 */
export class ForwardingTable {
  #view: NodeView;
  readonly #register = new Register();
  readonly #claims = new Claims();
  readonly #stale = new StaleQueue();
  readonly #kept = new KeptServices();
  readonly #serving = new ServingEndpoints();
  readonly #choices = new EbpfChoices();
  /** What the rows were when changes were last taken, of those that may be others now. */
  readonly #before = new Map<Entry, readonly Forwarding[]>();

  constructor(view: NodeView) {
    this.#view = view;
  }

  putService(service: ServiceObject): void {
    const entry = this.#register.entry(nameOf(service.namespace, service.name));
    const old = entry.service;
    entry.service = service;
    if (old === undefined || !isSameService(old, service)) this.#serviceChanged(entry, old);
  }

  deleteService(name: string): void {
    const entry = this.#register.get(name);
    if (entry?.service === undefined) return;
    const old = entry.service;
    entry.service = undefined;
    this.#serviceChanged(entry, old);
  }

  putSlice(slice: SliceObject): void {
    for (const move of this.#register.putSlice(slice)) this.#sliceMoved(move);
  }

  deleteSlice(key: string): void {
    const move = this.#register.deleteSlice(key);
    if (move) this.#sliceMoved(move);
  }

  putNamespace(namespace: NamespaceObject): void {
    this.#choices.putNamespace(namespace);
  }

  deleteNamespace(name: string): void {
    this.#choices.deleteNamespace(name);
  }

  /** The node's zone, addresses, detector or settings changed. */
  setView(view: NodeView): void {
    const onlyZone = equalButZone(this.#view, view);
    this.#view = view;
    this.#kept.clear();
    for (const entry of this.#register.entries()) {
      if (onlyZone ? hasHints(entry) : entry.service) this.#serviceChanged(entry, undefined);
    }
  }

  /** Whether there is something to take. */
  get hasChanges(): boolean {
    return !this.#stale.isEmpty || this.#before.size > 0 || this.#choices.hasChanged;
  }

  /**
   * What has changed since this was last asked; a change that was undone is none. With a limit it
   * compiles until it has looked at about so many frontends and endpoints, at least one Service,
   * and leaves the rest for the next time, in an order that is fair between namespaces.
   */
  takeChanges(most = Number.POSITIVE_INFINITY): Change[] {
    this.#followChoices();
    let left = most - this.#stale.next((stale) => this.#settle(stale));
    while (left > 0 && !this.#stale.isEmpty) {
      // A large one is for a call of its own: what was compiled before it need not wait for it.
      const done = this.#stale.next((stale) => this.#settle(stale), left);
      if (done === 0) break;
      left -= done;
    }
    const changes: Change[] = [];
    for (const [entry, old] of this.#before) {
      // Its rows are about to change once more.
      if (this.#stale.has(entry)) continue;
      for (const change of changesBetween(old, entry.rows)) changes.push(change);
      this.#register.release(entry);
      this.#before.delete(entry);
    }
    return changes;
  }

  get(key: ServicePortKey): Forwarding | undefined {
    const [namespace, name] = key.split(/[/:]/, 2);
    return this.ofService(`${namespace}/${name}`).find(({ id }) => servicePortKey(id) === key);
  }

  ofService(name: string): readonly Forwarding[] {
    const entry = this.#register.get(name);
    return entry === undefined ? [] : this.#current(entry);
  }

  #current(entry: Entry): readonly Forwarding[] {
    this.#followChoices();
    const stale = this.#stale.withdraw(entry);
    if (stale !== undefined) this.#settle(stale);
    return entry.rows;
  }

  serviceNames(): string[] {
    const entries = [...this.#register.entries()].filter(({ service }) => service);
    return entries.map(({ name }) => name).sort();
  }

  service(name: string): ServiceObject | undefined {
    return this.#register.get(name)?.service;
  }

  slicesOf(name: string): readonly SliceObject[] {
    return this.#register.get(name)?.slices ?? [];
  }

  /**
   * Whether an endpoint says that it serves, also one that new flows do not go to any more. Its
   * address is in canonical spelling.
   */
  isServing(id: ServicePortId, endpoint: Pick<Endpoint, 'address' | 'port'>): boolean {
    const slices = () => this.slicesOf(nameOf(id.namespace, id.service));
    return this.#serving.has(id, endpoint, { slices, view: this.#view });
  }

  get view(): NodeView {
    return this.#view;
  }

  /** Labels of namespaces change rarely, and many at once: one look at all names serves them all. */
  #followChoices(): void {
    const changed = this.#choices.takeChanged();
    if (changed.size === 0) return;
    for (const entry of this.#register.entries()) {
      if (entry.service && changed.has(entry.service.namespace)) this.#stale.mark(entry, FAMILIES);
    }
  }

  #sliceMoved({ entry, slice: { addressType } }: SliceMove): void {
    this.#serving.forget(entry.name);
    this.#stale.mark(entry, addressType === 'FQDN' ? NO_FAMILIES : ONLY[addressType]);
  }

  #serviceChanged(entry: Entry, old: ServiceObject | undefined): void {
    this.#kept.serviceChanged(entry);
    this.#kept.lossesChanged(entry);
    this.#stale.mark(entry, FAMILIES);
    if (entry.service && old && hasSameClaims(old, entry.service)) return;
    const { lost, won } = this.#claimAnew(entry);
    for (const name of lost.size === 0 ? won : lost.union(won)) {
      const rival = this.#register.entry(name);
      this.#kept.lossesChanged(rival);
      this.#stale.mark(rival, FAMILIES);
    }
  }

  /** Gives the other Services that want what this one wanted, and wants. */
  #claimAnew(entry: Entry): Record<'lost' | 'won', ReadonlySet<string>> {
    const { name, service, claimant: old } = entry;
    const lost = old === undefined ? NOBODY : this.#claims.withdraw(old);
    entry.claimant = service && {
      service: name,
      createdAtSeconds: service.createdAtSeconds,
      claims: claimsOf(service, this.#view),
    };
    return { lost, won: entry.claimant ? this.#claims.enter(entry.claimant) : NOBODY };
  }

  /** Brings the rows of a Service up to date, and says how much that was. */
  #settle({ entry, families }: Stale): number {
    const old = entry.rows;
    let looked = 1;
    const rowsOf = (family: Family): readonly Forwarding[] => {
      const before = old.length === 0 ? old : old.filter((row) => row.id.family === family);
      if (!families.includes(family)) return before;
      const rows = this.#compile(entry, family);
      for (const row of rows) {
        looked += row.frontends.length + row.clusterEndpoints.length + row.localEndpoints.length;
      }
      if (before.length === 0) return rows;
      const finder = new RowFinder(before);
      return rows.map((row, index) => sharing(row, finder.find(row.id, index)));
    };
    if (!this.#before.has(entry)) this.#before.set(entry, old);
    entry.rows = rowsOf('IPv4').concat(rowsOf('IPv6'));
    this.#kept.compiled(entry);
    return looked;
  }

  #compile(entry: Entry, family: Family): Forwarding[] {
    const rows = this.#compileServed(entry, family);
    if (!entry.service || !this.#choices.isLeftToPackets(entry.service)) return rows;
    return rows.map((row) => ({ ...row, onlyPackets: true }));
  }

  #compileServed(entry: Entry, family: Family): Forwarding[] {
    const { service, slices } = entry;
    const kept = this.#kept.of(entry, this.#view)?.[family];
    if (!service) return [];
    const rows =
      kept?.compile(service, slices) ?? compile({ service, slices, family, view: this.#view });
    // Nearly every Service has one port, and nobody who wants what it has.
    if (rows.length < 2 && !this.#claims.isDisputed) return rows;
    const taken = new Set<string>();
    return rows.map((row) => {
      const own = ownLosses(row, taken);
      const mark = () => this.#withLosses(row, { name: entry.name, own });
      return kept?.withLosses(row, mark) ?? mark();
    });
  }

  /** An address is had by the oldest Service that claims it, and there by the first of its ports. */
  #withLosses(row: Forwarding, of: { name: string; own: OwnLosses }): Forwarding {
    const losses = row.frontends.map((frontend) => {
      const lostTo = this.#claims.lostTo(claimOf(row.id, frontend), of.name);
      const isOwn = frontend.kind === 'node-port' ? of.own.nodePort : of.own.port;
      return lostTo ?? (isOwn ? of.name : undefined);
    });
    if (losses.every((lostTo) => lostTo === undefined)) return row;
    const frontends = row.frontends.map((frontend, index) => {
      const lostTo = losses[index];
      return lostTo === undefined ? frontend : { ...frontend, lostTo };
    });
    return { ...row, frontends };
  }
}

/** Whether an earlier port of the same Service has the number: all have the same addresses. */
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

const NOBODY: ReadonlySet<string> = new Set();
const NO_FAMILIES: readonly Family[] = [];
const ONLY: Readonly<Record<Family, readonly Family[]>> = { IPv4: ['IPv4'], IPv6: ['IPv6'] };

function claimsOf(service: ServiceObject, view: NodeView): readonly string[] {
  const ports = FAMILIES.flatMap((family) => reachablePorts(service, family, view));
  // A copy has room for its own items only; a list that was filled bit by bit has room to spare.
  return ports.flatMap(claimsOfPort).slice();
}

function hasHints({ slices }: Entry): boolean {
  return slices.some(({ endpoints }) => endpoints.some((e) => e.zoneHints ?? e.nodeHints));
}

function equalButZone(a: NodeView, b: NodeView): boolean {
  return JSON.stringify({ ...a, zone: '' }) === JSON.stringify({ ...b, zone: '' });
}
