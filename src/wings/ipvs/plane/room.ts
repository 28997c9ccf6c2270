import { Shares } from '../../../dataplanes/shared/shares.ts';
import type { ServicePortKey } from '../../../forwarding/model.ts';
import type { WantedServer } from './wanted.ts';

/** Virtual servers and destinations, of about half a KiB each: at most 512 MiB of the kernel. */
const MOST_WEIGHT = 2 ** 20;
/** A virtual server with `mh` has a table of 32 KiB. */
const WEIGHT_OF_A_TABLE = 64;
const MOST_NAMED = 3;

/** Rows for which IPVS has no room, by namespace: those with the most of them first. */
export interface DeclinedRows {
  readonly rowCount: number;
  readonly namespaces: readonly { readonly name: string; readonly rowCount: number }[];
}

/**
 * What all rows together may ask of the kernel's memory. A row beyond the share of its namespace is left
 * to the plane behind, until it changes or a full inspection finds room.
 */
export class Room {
  readonly #mostWeight: number;
  #shares: Shares;
  /** Of rows that IPVS has. */
  readonly #weights = new Map<ServicePortKey, number>();
  readonly #declined = new Set<ServicePortKey>();

  constructor(mostWeight = MOST_WEIGHT) {
    this.#mostWeight = mostWeight;
    this.#shares = new Shares(mostWeight);
  }

  isDeclined(key: ServicePortKey): boolean {
    return this.#declined.has(key);
  }

  /** All virtual servers of the row, or none. `isThere`: the kernel has them, as after a restart. */
  admit(
    key: ServicePortKey,
    servers: readonly WantedServer[],
    isThere = false,
  ): readonly WantedServer[] {
    const namespace = namespaceOf(key);
    const more = weightOf(servers) - (this.#weights.get(key) ?? 0);
    const isAdmitted =
      more <= 0 ||
      this.#shares.hasRoom(namespace, more) ||
      (isThere && this.#shares.hasAnyRoom(more));
    this.#setWeight(key, isAdmitted ? weightOf(servers) : 0);
    if (isAdmitted) this.#declined.delete(key);
    else this.#declined.add(key);
    return isAdmitted ? servers : [];
  }

  /** Undefined: there are none. */
  get declined(): DeclinedRows | undefined {
    if (this.#declined.size === 0) return undefined;
    const byNamespace = Map.groupBy(this.#declined, namespaceOf);
    const namespaces = [...byNamespace].map(([name, keys]) => ({ name, rowCount: keys.length }));
    namespaces.sort((a, b) => b.rowCount - a.rowCount || (a.name < b.name ? -1 : 1));
    return { rowCount: this.#declined.size, namespaces: namespaces.slice(0, MOST_NAMED) };
  }

  clear(): void {
    this.#shares = new Shares(this.#mostWeight);
    this.#weights.clear();
    this.#declined.clear();
  }

  #setWeight(key: ServicePortKey, weight: number): void {
    this.#shares.change(namespaceOf(key), weight - (this.#weights.get(key) ?? 0));
    if (weight === 0) this.#weights.delete(key);
    else this.#weights.set(key, weight);
  }
}

function weightOf(servers: readonly WantedServer[]): number {
  return servers.reduce((sum, { server, endpoints }) => {
    const ofTable = server.scheduler === 'mh' ? WEIGHT_OF_A_TABLE : 0;
    return sum + 1 + ofTable + endpoints.length;
  }, 0);
}

function namespaceOf(key: ServicePortKey): string {
  return key.slice(0, key.indexOf('/'));
}
