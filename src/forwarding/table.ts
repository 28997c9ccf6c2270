import type { NamespaceObject, ServiceObject, SliceObject } from '../cluster/objects.ts';
import { Claims, nodePortClaim } from './claims.ts';
import { compile } from './compile.ts';
import { ContentCounts } from './contents.ts';
import { EbpfChoices } from './ebpf-choices.ts';
import { API_SERVER, apiServerAddresses, ExternalIps } from './external-ips.ts';
import { HostPorts, type HostSocket, type HostState } from './host-ports.ts';
import { KeptServices } from './kept-services.ts';
import {
  type Endpoint,
  FAMILIES,
  type Family,
  type Forwarding,
  type NodeView,
  type ServicePortId,
  type ServicePortKey,
  servicePortKey,
} from './model.ts';
import { NotServedRows } from './not-served.ts';
import { type Entry, nameOf, Register, type SliceMove } from './register.ts';
import { type Change, changesBetween } from './row-changes.ts';
import { hasSameClaims, isSameService } from './same-service.ts';
import { claimantsOf, hiddenNodePorts } from './service-claims.ts';
import { ServingEndpoints } from './serving.ts';
import { sharedRows } from './share.ts';
import { SortedNames } from './sorted-names.ts';
import { type Stale, StaleQueue, sizeOf } from './stale-queue.ts';
import { type InTurns, toEnd } from './turns.ts';
import { type Compiled, MOST_AT_ONCE, UnderWay } from './under-way.ts';

export type { Change } from './row-changes.ts';

/**
 * The desired state of this node, updated object by object. A change of a slice recomputes only the
 * ports of its Service in its family, at a cost independent of the number of Services, and only
 * when the rows are read: many changes of one Service cost as much as one.
 */
export class ForwardingTable {
  #view: NodeView;
  readonly #names = new SortedNames();
  readonly #register = new Register();
  readonly #claims = new Claims();
  readonly #externalIps = new ExternalIps();
  readonly #notServed = new NotServedRows(this.#claims, this.#externalIps);
  readonly #stale = new StaleQueue();
  readonly #kept = new KeptServices();
  readonly #serving = new ServingEndpoints();
  readonly #choices = new EbpfChoices();
  /** The rows as of the last takeChanges(), for those that may have changed since. */
  readonly #before = new Map<Entry, readonly Forwarding[]>();
  readonly #contents = new ContentCounts();
  readonly #underWay = new UnderWay();

  constructor(view: NodeView) {
    this.#view = view;
    this.#notServed.setView(view);
  }

  /** Gives the object that it had before. */
  putService(service: ServiceObject): ServiceObject | undefined {
    const entry = this.#register.entry(nameOf(service.namespace, service.name));
    const old = entry.service;
    entry.service = service;
    if (old === undefined) this.#names.add(entry.name);
    if (old === undefined || !isSameService(old, service)) this.#serviceChanged(entry, old);
    return old;
  }

  /** Gives the object that it had; undefined: none. */
  deleteService(name: string): ServiceObject | undefined {
    const entry = this.#register.get(name);
    if (entry?.service === undefined) return undefined;
    const old = entry.service;
    entry.service = undefined;
    this.#names.delete(name);
    this.#serviceChanged(entry, old);
    return old;
  }

  /** Gives the object that it had before, if it was served. */
  putSlice(slice: SliceObject): SliceObject | undefined {
    const moves = this.#register.putSlice(slice);
    for (const move of moves) this.#sliceMoved(move);
    const [first] = moves;
    return first?.slice === slice ? undefined : first?.slice;
  }

  /** Gives the object that it had, if it was served. */
  deleteSlice(key: string): SliceObject | undefined {
    const move = this.#register.deleteSlice(key);
    if (move) this.#sliceMoved(move);
    return move?.slice;
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
    if (!onlyZone) this.#notServed.setView(view);
    this.#kept.clear();
    for (const entry of this.#register.entries()) {
      if (onlyZone ? hasHints(entry) : entry.service) this.#serviceChanged(entry, undefined);
    }
  }

  /** The machine has other addresses, or its processes other ports. */
  setHost(state: HostState): void {
    for (const entry of this.#externalIps.setHost(new HostPorts(state))) {
      this.#watchAnew(entry);
      this.#lossesChanged(entry);
    }
  }

  /** Addresses that Services claim and this node does not serve. */
  get notServed(): Pick<NotServedRows, 'counts' | 'first'> {
    return this.#notServed;
  }

  /** The Service that has a node port; undefined: none. */
  nodePortOwner({
    family,
    protocol,
    port,
  }: Pick<HostSocket, 'family' | 'protocol' | 'port'>): string | undefined {
    return this.#claims.winner(nodePortClaim({ family, protocol }, port))?.service;
  }

  /** Whether there is something to take. */
  get hasChanges(): boolean {
    return (
      !this.#stale.isEmpty ||
      this.#before.size > 0 ||
      this.#choices.hasChanged ||
      !this.#underWay.isEmpty
    );
  }

  /**
   * The changes since the last call; a change that was undone is none. With a limit it compiles at
   * least one Service, or a part of a large one, and stops after about that many frontends and
   * endpoints; the rest is for the next call, in an order that is fair between namespaces.
   */
  takeChanges(most = Number.POSITIVE_INFINITY): Change[] {
    this.#followChoices();
    const finished = this.#goOn(most);
    const room = this.#underWay.isEmpty ? Number.POSITIVE_INFINITY : MOST_AT_ONCE;
    let left = most - this.#stale.next((stale) => this.#begin(stale, most), room);
    while (left > 0 && !this.#stale.isEmpty) {
      // A large Service gets its own call, so that what was compiled before it need not wait.
      const done = this.#stale.next((stale) => this.#settle(stale), left);
      if (done === 0) break;
      left -= done;
    }
    const changes: Change[] = [];
    for (const [entry, old] of this.#before) {
      // Its rows are about to change once more. One that took many calls must not wait for all of them again.
      if (this.#stale.has(entry) && entry !== finished) continue;
      for (const change of changesBetween(old, entry.rows)) changes.push(change);
      this.#register.release(entry);
      this.#before.delete(entry);
    }
    return changes;
  }

  /** Compiles more of the Service that is under way; gives it when that was the rest. */
  #goOn(most: number): Entry | undefined {
    const { entry, compiled } = this.#underWay.goOn(most) ?? {};
    if (entry && compiled) this.#replace(entry, compiled);
    return entry;
  }

  /** Compiles a Service, or begins to; returns the amount of work. */
  #begin(stale: Stale, most: number): number {
    const { entry } = stale;
    const size = sizeOf(entry);
    if (size <= MOST_AT_ONCE || most === Number.POSITIVE_INFINITY) return this.#settle(stale);
    this.#underWay.begin(entry, this.#compiling(stale));
    this.#goOn(most);
    return size;
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
    if (this.#underWay.has(entry)) this.#goOn(Number.POSITIVE_INFINITY);
    const stale = this.#stale.withdraw(entry);
    if (stale !== undefined) this.#settle(stale);
    return entry.rows;
  }

  /** Of the rows as they were last compiled. */
  get contents(): Pick<ContentCounts, 'counts' | 'frontendsVersion'> {
    return this.#contents;
  }

  /** Sorted. The next call may give another array, and leaves this one as it is. */
  serviceNames(): readonly string[] {
    return this.#names.list(() => this.#namesFound());
  }

  *#namesFound(): Generator<string> {
    for (const { name, service } of this.#register.entries()) if (service) yield name;
  }

  /** Every row, in the order of the names. A new array: the table may change while it is read. */
  rows(): readonly Forwarding[] {
    return this.serviceNames().flatMap((name) => this.ofService(name));
  }

  service(name: string): ServiceObject | undefined {
    return this.#register.get(name)?.service;
  }

  slicesOf(name: string): readonly SliceObject[] {
    return this.#register.get(name)?.slices ?? [];
  }

  /**
   * Whether an endpoint is serving, including one that gets no new flows. Its address is in
   * canonical spelling.
   */
  isServing(id: ServicePortId, endpoint: Pick<Endpoint, 'address' | 'port'>): boolean {
    const slices = () => this.slicesOf(nameOf(id.namespace, id.service));
    return this.#serving.has(id, endpoint, { slices, view: this.#view });
  }

  get view(): NodeView {
    return this.#view;
  }

  /**
   * Labels of namespaces change rarely, and many at once: one scan of all names covers them all.
   */
  #followChoices(): void {
    const changed = this.#choices.takeChanged();
    if (changed.size === 0) return;
    for (const entry of this.#register.entries()) {
      if (entry.service && changed.has(entry.service.namespace)) this.#stale.mark(entry, FAMILIES);
    }
  }

  #sliceMoved({ entry, slice: { addressType } }: SliceMove): void {
    if (entry.name === API_SERVER) this.#apiServersChanged(entry.slices);
    this.#serving.forget(entry.name);
    this.#stale.mark(entry, addressType === 'FQDN' ? NO_FAMILIES : ONLY[addressType]);
  }

  #apiServersChanged(slices: readonly SliceObject[]): void {
    for (const entry of this.#externalIps.setApiServers(apiServerAddresses(slices))) {
      this.#lossesChanged(entry);
    }
  }

  /** Only the choice of its served addresses may change. */
  #lossesChanged(entry: Entry): void {
    this.#contents.expectOtherFrontends();
    this.#kept.lossesChanged(entry);
    this.#stale.mark(entry, FAMILIES);
  }

  #serviceChanged(entry: Entry, old: ServiceObject | undefined): void {
    // Another Service may have an address by then that its rows would still name.
    this.#underWay.abandon(entry);
    this.#kept.serviceChanged(entry);
    this.#lossesChanged(entry);
    if (entry.service && old && hasSameClaims(old, entry.service)) return;
    this.#externalIps.put(entry, this.#view);
    this.#watchAnew(entry);
    const { lost, won } = this.#claimAnew(entry);
    for (const name of lost.size === 0 ? won : lost.union(won)) {
      this.#lossesChanged(this.#register.entry(name));
    }
  }

  /** Gives the other Services that want what this one wanted, and wants. */
  #claimAnew(entry: Entry): Record<'lost' | 'won', ReadonlySet<string>> {
    const { name, service } = entry;
    const lost = this.#claims.withdraw(entry.claimants);
    const claimed = { name, view: this.#view };
    entry.claimants = service === undefined ? [] : claimantsOf(service, claimed);
    return { lost, won: this.#claims.enter(entry.claimants) };
  }

  #watchAnew(entry: Entry): void {
    const { name, service } = entry;
    this.#claims.unwatch(entry.watched, name);
    const node = { view: this.#view, host: this.#externalIps.host };
    entry.watched = service === undefined ? NOTHING : hiddenNodePorts(service, node);
    this.#claims.watch(entry.watched, name);
  }

  /** Updates the rows of a Service and returns the amount of work. */
  #settle(stale: Stale): number {
    const compiled = toEnd(this.#compiling(stale));
    this.#replace(stale.entry, compiled);
    return 1 + compiled.size;
  }

  #replace(entry: Entry, { rows }: Compiled): void {
    const old = entry.rows;
    if (!this.#before.has(entry)) this.#before.set(entry, old);
    entry.rows = rows;
    this.#contents.replace(entry.name, old, rows);
    this.#kept.compiled(entry);
  }

  *#compiling({ entry, families }: Stale): InTurns<Compiled> {
    const old = entry.rows;
    let all: readonly Forwarding[] = [];
    let size = 0;
    for (const family of FAMILIES) {
      const before = old.length === 0 ? old : old.filter((row) => row.id.family === family);
      if (!families.includes(family)) {
        all = all.concat(before);
        continue;
      }
      const compiled = yield* sharedRows(yield* this.#compile(entry, family), before);
      all = all.concat(compiled.rows);
      size += compiled.size;
    }
    return { rows: all, size };
  }

  *#compile(entry: Entry, family: Family): InTurns<readonly Forwarding[]> {
    const { service } = entry;
    const rows = yield* this.#compileServed(entry, family);
    if (!service || !this.#isLeftToPackets(service)) return rows;
    return rows.map((row) => ({ ...row, onlyPackets: true }));
  }

  #isLeftToPackets(service: ServiceObject): boolean {
    const { leftToPackets = [] } = this.#view;
    const isNamed = leftToPackets.some((address) => service.clusterIPs.includes(address));
    return isNamed || this.#choices.isLeftToPackets(service);
  }

  *#compileServed(entry: Entry, family: Family): InTurns<readonly Forwarding[]> {
    const { service, slices } = entry;
    const kept = this.#kept.of(entry, this.#view)?.[family];
    const rows = service
      ? kept
        ? yield* kept.compile(service, slices)
        : compile({ service, slices, family, view: this.#view })
      : [];
    return this.#notServed.mark(rows, { entry, family }, kept);
  }
}

const NOTHING: readonly string[] = [];
const NO_FAMILIES: readonly Family[] = [];
const ONLY: Readonly<Record<Family, readonly Family[]>> = { IPv4: ['IPv4'], IPv6: ['IPv6'] };

function hasHints({ slices }: Entry): boolean {
  return slices.some(({ endpoints }) => endpoints.some((e) => e.zoneHints ?? e.nodeHints));
}

function equalButZone(a: NodeView, b: NodeView): boolean {
  return JSON.stringify({ ...a, zone: '' }) === JSON.stringify({ ...b, zone: '' });
}
