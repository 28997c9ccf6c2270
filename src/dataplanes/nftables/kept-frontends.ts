import type { Family, ServicePortKey } from '../../forwarding/model.ts';
import type { NftBatch } from '../../linux/nftables/batch.ts';
import type { NftConnection } from '../../linux/nftables/nft-connection.ts';
import type { Binary } from '../../linux/nftables/userdata.ts';
import { frontendKey, nodePortKey } from '../shared/nft/element-keys.ts';
import { TABLE_FAMILIES, TABLE_OF_FAMILY } from './nftables-chains.ts';
import { KEPT_SETS, TABLES } from './nftables-sets.ts';

/** A row that is not handed over, with its TCP frontends; none: it is handed over again. */
export interface KeptRow {
  readonly key: ServicePortKey;
  readonly family: Family;
  /** The address is empty for a node port. */
  readonly frontends: readonly { readonly address: string; readonly port: number }[];
}

interface Element {
  readonly family: Family;
  readonly set: (typeof KEPT_SETS)[number];
  readonly key: Binary;
}

const ELEMENTS_PER_TRANSACTION = 2_000;

/**
 * Frontends of rows for which the forwarder has no room: these sets except them from the hand-over.
 * The cost of a change is that of the rows it names.
 */
export class KeptFrontends {
  readonly #rows = new Map<ServicePortKey, readonly Element[]>();
  /** How many rows want an element. */
  readonly #wanted = new Map<string, number>();
  readonly #pending = new Map<string, Element>();
  #written = new Set<string>();
  /** False: the sets may hold anything. */
  #isKnown = false;

  set({ key, family, frontends }: KeptRow): void {
    const before = this.#rows.get(key) ?? [];
    const after = frontends.map((frontend) => elementOf(family, frontend));
    for (const element of after) this.#want(element, 1);
    for (const element of before) this.#want(element, -1);
    if (after.length > 0) this.#rows.set(key, after);
    else this.#rows.delete(key);
  }

  /** The sets are emptied and filled anew by the next write. */
  mistrust(): void {
    this.#isKnown = false;
  }

  async write(connection: NftConnection): Promise<void> {
    let batch = connection.begin();
    if (!this.#isKnown) await this.#startAnew(connection, batch);
    this.#isKnown = false;
    let count = 0;
    for (const [name, element] of this.#pending) {
      this.#settle(batch, name, element);
      this.#pending.delete(name);
      count++;
      if (count % ELEMENTS_PER_TRANSACTION > 0) continue;
      await connection.commit(batch);
      batch = connection.begin();
    }
    await connection.commit(batch);
    this.#isKnown = true;
  }

  get isSettled(): boolean {
    return this.#isKnown && this.#pending.size === 0;
  }

  async #startAnew(connection: NftConnection, batch: NftBatch): Promise<void> {
    for (const family of TABLE_FAMILIES) {
      for (const set of KEPT_SETS) {
        let count = 0;
        await connection.elements(TABLES[family], set, () => {
          count++;
        });
        // A commit that changes nothing is none for the kernel, and events would seem to be lost.
        if (count > 0) batch.flushSet(TABLES[family], set);
      }
    }
    this.#written = new Set();
    for (const elements of this.#rows.values()) {
      for (const element of elements) this.#pending.set(nameOf(element), element);
    }
  }

  #settle(batch: NftBatch, name: string, { family, set, key }: Element): void {
    const table = TABLES[TABLE_OF_FAMILY[family]];
    const [isWanted, isWritten] = [this.#wanted.has(name), this.#written.has(name)];
    if (isWanted && !isWritten) {
      batch.addElement(table, set, { key });
      this.#written.add(name);
    } else if (!isWanted && isWritten) {
      batch.deleteElement(table, set, { key });
      this.#written.delete(name);
    }
  }

  #want(element: Element, by: 1 | -1): void {
    const name = nameOf(element);
    const count = (this.#wanted.get(name) ?? 0) + by;
    if (count === 0) this.#wanted.delete(name);
    else this.#wanted.set(name, count);
    this.#pending.set(name, element);
  }
}

function elementOf(family: Family, { address, port }: KeptRow['frontends'][number]): Element {
  if (address === '') return { family, set: 'kept-nodeports', key: nodePortKey('TCP', port) };
  return { family, set: 'kept-services', key: frontendKey(address, 'TCP', port) };
}

function nameOf({ family, set, key }: Element): string {
  return `${family} ${set} ${key}`;
}
