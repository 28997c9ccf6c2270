import {
  type Forwarding,
  type Frontend,
  type Protocol,
  type ServicePortKey,
  servicePortKey,
} from '../../../forwarding/model.ts';
import { virtualServerId } from '../../../linux/ipvs/ipvs-model.ts';

/**
 * Which rows have node ports, and which addresses that a machine may have are named by a frontend:
 * there a node port is not served. Keeps no other rows.
 */
export class Claims {
  readonly #rows = new Map<ServicePortKey, Forwarding>();
  /** How many frontends name it: while an address moves, two rows do. */
  readonly #named = new Map<string, number>();
  readonly #nodePorts = new Map<string, Set<ServicePortKey>>();

  /** Whether a frontend has this address by name; `id` as `virtualServerId` gives it. */
  isNamed(id: string): boolean {
    return this.#named.has(id);
  }

  row(key: ServicePortKey): Forwarding | undefined {
    return this.#rows.get(key);
  }

  *rowsWithNodePorts(): Generator<Forwarding> {
    for (const row of this.#rows.values()) if (row.frontends.some(isNodePort)) yield row;
  }

  /** Rows with a node port at which one of these rows has a named address now or had one before. */
  affectedBy(rows: readonly Forwarding[]): Set<ServicePortKey> {
    const affected = new Set<ServicePortKey>();
    for (const row of rows) {
      for (const { port } of row.frontends.filter(isNamedAddress)) {
        const keys = this.#nodePorts.get(nodePortId(row, port)) ?? [];
        for (const key of keys) affected.add(key);
      }
    }
    return affected;
  }

  /** Replaces what a row claims. */
  set(key: ServicePortKey, row: Forwarding | undefined): void {
    const before = this.#rows.get(key);
    if (before === row) return;
    if (before) this.#count(before, -1);
    this.#rows.delete(key);
    if (row === undefined || !row.frontends.some(isOfInterest)) return;
    this.#rows.set(key, row);
    this.#count(row, 1);
  }

  clear(): void {
    this.#rows.clear();
    this.#named.clear();
    this.#nodePorts.clear();
  }

  #count(row: Forwarding, by: 1 | -1): void {
    const { protocol } = row.id;
    for (const frontend of row.frontends) {
      if (isNodePort(frontend)) this.#noteNodePort(row, frontend.port, by);
      else if (isNamedAddress(frontend)) this.#noteNamed(frontend, protocol, by);
    }
  }

  #noteNamed({ address, port }: Frontend, protocol: Protocol, by: 1 | -1): void {
    const id = virtualServerId({ address, protocol, port });
    const count = (this.#named.get(id) ?? 0) + by;
    if (count > 0) this.#named.set(id, count);
    else this.#named.delete(id);
  }

  #noteNodePort(row: Forwarding, port: number, by: 1 | -1): void {
    const id = nodePortId(row, port);
    const keys = this.#nodePorts.get(id) ?? new Set();
    if (by === 1) keys.add(servicePortKey(row.id));
    else keys.delete(servicePortKey(row.id));
    if (keys.size > 0) this.#nodePorts.set(id, keys);
    else this.#nodePorts.delete(id);
  }
}

function isOfInterest(frontend: Frontend): boolean {
  return isNodePort(frontend) || isNamedAddress(frontend);
}

function isNodePort({ kind, notServed }: Frontend): boolean {
  return kind === 'node-port' && notServed === undefined;
}

/** Cluster IPs are of ranges in which node ports are not served. */
function isNamedAddress({ kind, notServed }: Frontend): boolean {
  return notServed === undefined && (kind === 'external-ip' || kind === 'load-balancer-ip');
}

function nodePortId({ id: { family, protocol } }: Forwarding, port: number): string {
  return `${family} ${protocol} ${port}`;
}
