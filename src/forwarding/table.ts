import type { ServiceObject, SliceObject } from '../cluster/objects.ts';
import { Claims, claimOf, claimsOfPort } from './claims.ts';
import { compile } from './compile.ts';
import { equalForwarding } from './equal.ts';
import {
  FAMILIES,
  type Family,
  type Forwarding,
  type NodeView,
  type ServicePortKey,
  servicePortKey,
} from './model.ts';
import { servicePorts } from './service-ports.ts';
import { SliceIndex } from './slice-index.ts';

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
  readonly #services = new Map<string, ServiceObject>();
  readonly #slices = new SliceIndex();
  readonly #claims = new Claims();
  /** By Service, in the order of its ports, IPv4 first. */
  readonly #rows = new Map<string, readonly Forwarding[]>();
  /** Services whose rows are out of date, and in which families. */
  readonly #stale = new Map<string, readonly Family[]>();
  /** What the rows of a Service were when changes were last taken, if they are others now. */
  readonly #before = new Map<string, readonly Forwarding[]>();

  constructor(view: NodeView) {
    this.#view = view;
  }

  putService(service: ServiceObject): void {
    const name = `${service.namespace}/${service.name}`;
    this.#services.set(name, service);
    this.#serviceChanged(name);
  }

  deleteService(name: string): void {
    if (this.#services.delete(name)) this.#serviceChanged(name);
  }

  putSlice(slice: SliceObject): void {
    for (const service of this.#slices.put(slice)) this.#sliceChanged(service, slice);
  }

  deleteSlice(key: string): void {
    const removed = this.#slices.delete(key);
    if (removed) this.#sliceChanged(removed.service, removed.slice);
  }

  /** The node's zone, addresses, detector or settings changed. */
  setView(view: NodeView): void {
    const onlyZone = equalButZone(this.#view, view);
    this.#view = view;
    const names = onlyZone ? this.#slices.hintedServices() : [...this.#services.keys()];
    for (const name of names) this.#serviceChanged(name);
  }

  /** What has changed since this was last asked; a change that was undone is none. */
  takeChanges(): Change[] {
    for (const name of [...this.#stale.keys()]) this.#settle(name);
    const changes = [...this.#before].flatMap(([name, old]) =>
      changesBetween(byKey(old), byKey(this.ofService(name))),
    );
    this.#before.clear();
    return changes;
  }

  get(key: ServicePortKey): Forwarding | undefined {
    const [namespace, name] = key.split(/[/:]/, 2);
    return this.ofService(`${namespace}/${name}`).find(({ id }) => servicePortKey(id) === key);
  }

  ofService(name: string): readonly Forwarding[] {
    if (this.#stale.has(name)) this.#settle(name);
    return this.#rows.get(name) ?? NO_ROWS;
  }

  serviceNames(): string[] {
    return [...this.#services.keys()].sort();
  }

  service(name: string): ServiceObject | undefined {
    return this.#services.get(name);
  }

  slicesOf(name: string): readonly SliceObject[] {
    return this.#slices.of(name);
  }

  get view(): NodeView {
    return this.#view;
  }

  #sliceChanged(service: string, slice: SliceObject): void {
    if (slice.addressType === 'FQDN') return;
    const families = this.#stale.get(service) ?? [];
    if (families.includes(slice.addressType)) return;
    this.#stale.set(service, families.length === 0 ? ONLY[slice.addressType] : FAMILIES);
  }

  #serviceChanged(name: string): void {
    const rivals = this.#claimAnew(name);
    for (const affected of [name, ...rivals]) this.#stale.set(affected, FAMILIES);
  }

  /** Gives the other Services that want what this one wants, or wanted. */
  #claimAnew(name: string): Set<string> {
    const service = this.#services.get(name);
    if (!service) return this.#claims.withdraw(name);
    const ports = FAMILIES.flatMap((family) => servicePorts(service, family, this.#view));
    const claimant = { service: name, createdAtSeconds: service.createdAtSeconds };
    return this.#claims.replace(claimant, ports.flatMap(claimsOfPort));
  }

  /** Brings the rows of a Service up to date. */
  #settle(name: string): void {
    const families = this.#stale.get(name) ?? [];
    this.#stale.delete(name);
    const old = this.#rows.get(name) ?? NO_ROWS;
    const rows = FAMILIES.flatMap((family) =>
      families.includes(family)
        ? this.#compile(name, family)
        : old.filter((row) => row.id.family === family),
    );
    if (!this.#before.has(name)) this.#before.set(name, old);
    if (rows.length === 0) this.#rows.delete(name);
    else this.#rows.set(name, rows);
  }

  #compile(name: string, family: Family): Forwarding[] {
    const service = this.#services.get(name);
    if (!service) return [];
    const rows = compile({ service, slices: this.#slices.of(name), family, view: this.#view });
    return rows.map((row) => ({
      ...row,
      frontends: row.frontends.map((frontend) => {
        const lostTo = this.#claims.lostTo(claimOf(row.id, frontend), name);
        return lostTo === undefined ? frontend : { ...frontend, lostTo };
      }),
    }));
  }
}

const NO_ROWS: readonly Forwarding[] = [];

const ONLY: Readonly<Record<Family, readonly Family[]>> = { IPv4: ['IPv4'], IPv6: ['IPv6'] };

function changesBetween(
  old: ReadonlyMap<ServicePortKey, Forwarding>,
  rows: ReadonlyMap<ServicePortKey, Forwarding>,
): Change[] {
  const keys = [...old.keys(), ...[...rows.keys()].filter((key) => !old.has(key))];
  return keys
    .map((key) => ({ key, before: old.get(key), after: rows.get(key) }))
    .filter(({ before, after }) => !equalForwarding(before, after));
}

function byKey(rows: readonly Forwarding[]): Map<ServicePortKey, Forwarding> {
  return new Map(rows.map((row) => [servicePortKey(row.id), row]));
}

function equalButZone(a: NodeView, b: NodeView): boolean {
  return JSON.stringify({ ...a, zone: '' }) === JSON.stringify({ ...b, zone: '' });
}
