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
 * ports of its Service in its family and looks at nothing else, however many Services there are.
 */
export class ForwardingTable {
  #view: NodeView;
  readonly #services = new Map<string, ServiceObject>();
  readonly #slices = new SliceIndex();
  readonly #claims = new Claims();
  /** By Service, in the order of its ports, IPv4 first. */
  readonly #rows = new Map<string, readonly Forwarding[]>();
  /** What each changed key was before the changes that have not been taken yet. */
  readonly #before = new Map<ServicePortKey, Forwarding | undefined>();

  constructor(view: NodeView) {
    this.#view = view;
  }

  putService(service: ServiceObject): void {
    const name = `${service.namespace}/${service.name}`;
    this.#services.set(name, service);
    this.#recomputeService(name);
  }

  deleteService(name: string): void {
    if (this.#services.delete(name)) this.#recomputeService(name);
  }

  putSlice(slice: SliceObject): void {
    for (const service of this.#slices.put(slice)) this.#recomputeOfSlice(service, slice);
  }

  deleteSlice(key: string): void {
    const removed = this.#slices.delete(key);
    if (removed) this.#recomputeOfSlice(removed.service, removed.slice);
  }

  /** The node's zone, addresses, detector or settings changed. */
  setView(view: NodeView): void {
    const onlyZone = equalButZone(this.#view, view);
    this.#view = view;
    const names = onlyZone ? this.#slices.hintedServices() : [...this.#services.keys()];
    for (const name of names) this.#recomputeService(name);
  }

  /** What has changed since this was last asked; a change that was undone is none. */
  takeChanges(): Change[] {
    const changes: Change[] = [];
    for (const [key, before] of this.#before) {
      const after = this.get(key);
      if (!equalForwarding(before, after)) changes.push({ key, before, after });
    }
    this.#before.clear();
    return changes;
  }

  get(key: ServicePortKey): Forwarding | undefined {
    const [namespace, name] = key.split(/[/:]/, 2);
    return this.ofService(`${namespace}/${name}`).find(({ id }) => servicePortKey(id) === key);
  }

  ofService(name: string): readonly Forwarding[] {
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

  #recomputeOfSlice(service: string, slice: SliceObject): void {
    if (slice.addressType !== 'FQDN') this.#settle(service, [slice.addressType]);
  }

  #recomputeService(name: string): void {
    const rivals = this.#claimAnew(name);
    for (const affected of [name, ...rivals]) this.#settle(affected, FAMILIES);
  }

  /** Gives the other Services that want what this one wants, or wanted. */
  #claimAnew(name: string): Set<string> {
    const service = this.#services.get(name);
    if (!service) return this.#claims.withdraw(name);
    const ports = FAMILIES.flatMap((family) => servicePorts(service, family, this.#view));
    const claimant = { service: name, createdAtSeconds: service.createdAtSeconds };
    return this.#claims.replace(claimant, ports.flatMap(claimsOfPort));
  }

  /** Computes the rows of a Service and notes which keys they touch. */
  #settle(name: string, families: readonly Family[]): void {
    const old = this.ofService(name);
    const rows = FAMILIES.flatMap((family) =>
      families.includes(family)
        ? this.#compile(name, family)
        : old.filter((row) => row.id.family === family),
    );
    const before = byKey(old);
    const after = byKey(rows);
    for (const key of new Set([...before.keys(), ...after.keys()])) {
      const isNews = !this.#before.has(key) && before.get(key) !== after.get(key);
      if (isNews) this.#before.set(key, before.get(key));
    }
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

function byKey(rows: readonly Forwarding[]): Map<ServicePortKey, Forwarding> {
  return new Map(rows.map((row) => [servicePortKey(row.id), row]));
}

function equalButZone(a: NodeView, b: NodeView): boolean {
  return JSON.stringify({ ...a, zone: '' }) === JSON.stringify({ ...b, zone: '' });
}
