import type { ServiceObject, SliceObject } from '../cluster/objects.ts';
import { Claims, claimOf, claimsOfPort } from './claims.ts';
import { compile } from './compile.ts';
import { equalForwarding } from './equal.ts';
import {
  FAMILIES,
  type Family,
  type Forwarding,
  type NodeView,
  type ServicePortId,
  type ServicePortKey,
  servicePortKey,
} from './model.ts';
import { type Entry, nameOf, Register, type SliceMove } from './register.ts';
import { servicePorts } from './service-ports.ts';

/** A service port that is not as it was: what to replace by what. */
export interface Change {
  readonly key: ServicePortKey;
  readonly before: Forwarding | undefined;
  readonly after: Forwarding | undefined;
}

/**
 * What this node should do, kept up to date object by object. A change of a slice recomputes the
 * ports of its Service in its family and looks at nothing else, however many Services there are;
 * and only when somebody asks, so that many changes of one Service cost as much as one.
 */
export class ForwardingTable {
  #view: NodeView;
  readonly #register = new Register();
  readonly #claims = new Claims();
  /** Whose rows are out of date, and in which families. */
  readonly #stale = new Map<Entry, readonly Family[]>();
  /** What the rows were when changes were last taken, of those that may be others now. */
  readonly #before = new Map<Entry, readonly Forwarding[]>();

  constructor(view: NodeView) {
    this.#view = view;
  }

  putService(service: ServiceObject): void {
    const entry = this.#register.entry(nameOf(service.namespace, service.name));
    entry.service = service;
    this.#serviceChanged(entry);
  }

  deleteService(name: string): void {
    const entry = this.#register.get(name);
    if (entry?.service === undefined) return;
    entry.service = undefined;
    this.#serviceChanged(entry);
  }

  putSlice(slice: SliceObject): void {
    for (const move of this.#register.putSlice(slice)) this.#sliceMoved(move);
  }

  deleteSlice(key: string): void {
    const move = this.#register.deleteSlice(key);
    if (move) this.#sliceMoved(move);
  }

  /** The node's zone, addresses, detector or settings changed. */
  setView(view: NodeView): void {
    const onlyZone = equalButZone(this.#view, view);
    this.#view = view;
    for (const entry of this.#register.entries()) {
      if (onlyZone ? hasHints(entry) : entry.service) this.#serviceChanged(entry);
    }
  }

  /** Whether `takeChanges` has left something for the next call. */
  get hasChanges(): boolean {
    return this.#stale.size > 0;
  }

  /**
   * What has changed since this was last asked; a change that was undone is none. Stops after about
   * so many objects, and what is stale beyond them is left for the next call.
   */
  takeChanges(most: number = Number.POSITIVE_INFINITY): Change[] {
    let objectCount = 0;
    for (const entry of this.#inTurns(most)) {
      if (objectCount >= most) break;
      this.#current(entry);
      objectCount += 1 + objectsOf(entry);
    }
    const changes: Change[] = [];
    for (const [entry, old] of this.#before) {
      for (const change of changesBetween(old, entry.rows)) changes.push(change);
      this.#register.release(entry);
    }
    this.#before.clear();
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
    const families = this.#stale.get(entry);
    if (families) this.#settle(entry, families);
    this.#stale.delete(entry);
    return entry.rows;
  }

  /** Stale Services, one of each namespace in turn. */
  #inTurns(most: number): Iterable<Entry> {
    if (most === Number.POSITIVE_INFINITY) return [...this.#stale.keys()];
    const lanes = Map.groupBy(this.#stale.keys(), ({ name }) => name.slice(0, name.indexOf('/')));
    const longest = Math.max(0, ...[...lanes.values()].map(({ length }) => length));
    return Array.from({ length: longest }, (_, turn) =>
      [...lanes.values()].flatMap((lane) => lane[turn] ?? []),
    ).flat();
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

  get view(): NodeView {
    return this.#view;
  }

  #sliceMoved({ entry, slice: { addressType } }: SliceMove): void {
    const families = this.#stale.get(entry) ?? NO_FAMILIES;
    if (addressType === 'FQDN' || families.includes(addressType)) {
      this.#stale.set(entry, families);
    } else {
      this.#stale.set(entry, families.length === 0 ? ONLY[addressType] : FAMILIES);
    }
  }

  #serviceChanged(entry: Entry): void {
    this.#stale.set(entry, FAMILIES);
    for (const rival of this.#claimAnew(entry)) {
      this.#stale.set(this.#register.entry(rival), FAMILIES);
    }
  }

  /** Gives the other Services that want what this one wants, or wanted. */
  #claimAnew(entry: Entry): string[] {
    const { name, service, claimant: old } = entry;
    const oldRivals = old === undefined ? [] : this.#claims.withdraw(old);
    entry.claimant = service && {
      service: name,
      createdAtSeconds: service.createdAtSeconds,
      claims: claimsOf(service, this.#view),
    };
    return entry.claimant ? [...oldRivals, ...this.#claims.enter(entry.claimant)] : oldRivals;
  }

  /** Brings the rows of a Service up to date. */
  #settle(entry: Entry, families: readonly Family[]): void {
    const old = entry.rows;
    const rowsOf = (family: Family): Forwarding[] =>
      families.includes(family)
        ? this.#compile(entry, family)
        : old.filter((row) => row.id.family === family);
    if (!this.#before.has(entry)) this.#before.set(entry, old);
    entry.rows = rowsOf('IPv4').concat(rowsOf('IPv6'));
  }

  #compile({ name, service, slices }: Entry, family: Family): Forwarding[] {
    if (!service) return [];
    const rows = compile({ service, slices, family, view: this.#view });
    // Nearly every Service has one port, and nobody who wants what it has.
    if (rows.length < 2 && !this.#claims.isDisputed) return rows;
    const taken = new Set<string>();
    return rows.map((row) => this.#withLosses(row, { name, taken }));
  }

  /** An address is had by the oldest Service that claims it, and there by the first of its ports. */
  #withLosses(row: Forwarding, of: { name: string; taken: Set<string> }): Forwarding {
    const losses = row.frontends.map((frontend) => {
      const claim = claimOf(row.id, frontend);
      const lostTo = this.#claims.lostTo(claim, of.name);
      if (lostTo !== undefined) return lostTo;
      if (of.taken.has(claim)) return of.name;
      of.taken.add(claim);
      return undefined;
    });
    if (losses.every((lostTo) => lostTo === undefined)) return row;
    const frontends = row.frontends.map((frontend, index) => {
      const lostTo = losses[index];
      return lostTo === undefined ? frontend : { ...frontend, lostTo };
    });
    return { ...row, frontends };
  }
}

const NO_FAMILIES: readonly Family[] = [];
const ONLY: Readonly<Record<Family, readonly Family[]>> = { IPv4: ['IPv4'], IPv6: ['IPv6'] };

function claimsOf(service: ServiceObject, view: NodeView): readonly string[] {
  const ports = FAMILIES.flatMap((family) => servicePorts(service, family, view));
  // A copy has room for its own items only; a list that was filled bit by bit has room to spare.
  return ports.flatMap(claimsOfPort).slice();
}

function objectsOf({ rows }: Entry): number {
  const sizes = rows.map((row) => row.frontends.length + row.clusterEndpoints.length);
  return sizes.reduce((sum, size) => sum + size, 0);
}

function hasHints({ slices }: Entry): boolean {
  return slices.some(({ endpoints }) => endpoints.some((e) => e.zoneHints ?? e.nodeHints));
}

/** First what was there, then what is new. */
function changesBetween(old: readonly Forwarding[], rows: readonly Forwarding[]): Change[] {
  const changes: Change[] = [];
  old.forEach((before, index) => {
    const after = samePort(rows, before.id, index);
    if (!equalForwarding(before, after)) changes.push(changeOf(before, after));
  });
  rows.forEach((after, index) => {
    if (!samePort(old, after.id, index)) changes.push(changeOf(undefined, after));
  });
  return changes;
}

function changeOf(before: Forwarding | undefined, after: Forwarding | undefined): Change {
  const { id } = (after ?? before) as Forwarding;
  return { key: servicePortKey(id), before, after };
}

/** The row of a port of the same Service: nearly always where it was. */
function samePort(
  rows: readonly Forwarding[],
  id: ServicePortId,
  likelyIndex: number,
): Forwarding | undefined {
  const isSame = (row: Forwarding): boolean =>
    row.id.port === id.port && row.id.protocol === id.protocol && row.id.family === id.family;
  const likely = rows[likelyIndex];
  return likely && isSame(likely) ? likely : rows.find(isSame);
}

function equalButZone(a: NodeView, b: NodeView): boolean {
  return JSON.stringify({ ...a, zone: '' }) === JSON.stringify({ ...b, zone: '' });
}
