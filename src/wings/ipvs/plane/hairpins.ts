import type { Endpoint, ServicePortKey } from '../../../forwarding/model.ts';
import type { WantedServer } from './wanted.ts';

/** Addresses of endpoints on this node: their connections to themselves must be masqueraded. */
export class Hairpins {
  /** Of rows that have some. */
  readonly #ofRow = new Map<ServicePortKey, readonly string[]>();
  readonly #counts = new Map<string, number>();
  /** What the kernel has. */
  readonly #written = new Set<string>();

  /** Replaces what a row needs. */
  set(row: ServicePortKey, servers: readonly WantedServer[]): void {
    const before = this.#ofRow.get(row) ?? [];
    const after = localAddresses(servers);
    for (const address of after) this.#counts.set(address, (this.#counts.get(address) ?? 0) + 1);
    for (const address of before) {
      const count = (this.#counts.get(address) ?? 0) - 1;
      if (count > 0) this.#counts.set(address, count);
      else this.#counts.delete(address);
    }
    if (after.length > 0) this.#ofRow.set(row, after);
    else this.#ofRow.delete(row);
  }

  missing(): string[] {
    return [...this.#counts.keys()].filter((address) => !this.#written.has(address));
  }

  needless(): string[] {
    return [...this.#written].filter((address) => !this.#counts.has(address));
  }

  /** What the kernel has was read anew. */
  noteFound(found: Iterable<string>): void {
    this.#written.clear();
    for (const address of found) this.#written.add(address);
  }

  noteWritten(address: string): void {
    this.#written.add(address);
  }

  noteDeleted(address: string): void {
    this.#written.delete(address);
  }

  /** `found`: what the kernel has. */
  reset(found: Iterable<string>): void {
    this.#ofRow.clear();
    this.#counts.clear();
    this.noteFound(found);
  }
}

function localAddresses(servers: readonly WantedServer[]): readonly string[] {
  const lists = new Set<readonly Endpoint[]>(servers.map(({ endpoints }) => endpoints));
  const addresses = new Set<string>();
  for (const list of lists) {
    for (const { local, address } of list) if (local) addresses.add(address);
  }
  return [...addresses];
}
