import type { NftConnection } from '../../linux/nftables/nft-connection.ts';
import type { TableFamily } from '../../linux/nftables/nftables-protocol.ts';
import type { Binary } from '../../linux/nftables/userdata.ts';
import { SHARED_SETS, type SharedSet, TABLES } from './nftables-sets.ts';
import type { Suspects } from './nftables-suspects.ts';
import { type Held, MANAGED_SETS, type ManagedSet, type Place } from './row-elements.ts';

/** The known elements of one table. */
export interface ElementView {
  /** `assumed`: not read, and so assumed to be as it should be. */
  held(set: ManagedSet, place: Place): Held | 'assumed' | undefined;
  /** The value under a key, as far as it was read; does not count as asked for. */
  value(set: ManagedSet, key: Binary): Binary | undefined;
  /** Whether it has everything, and not only what events reported. */
  readonly isWhole: boolean;
  /** Whether the table is empty: a first start would look up hundreds of thousands of elements. */
  readonly isEmpty: boolean;
  /** Elements that no row asked for; call it after all rows. */
  leftovers(): Iterable<Place & { readonly set: ManagedSet }>;
}

const MOST_ATTEMPTS = 5;

/** Reads a table whole. It takes seconds where there are hundreds of thousands of elements. */
export async function readView(
  connection: NftConnection,
  family: TableFamily,
): Promise<ElementView> {
  const found = new Map<ManagedSet, Map<Binary, Held>>();
  for (const set of MANAGED_SETS) found.set(set, await readSet(connection, family, set));
  return new MapView(found);
}

export function emptyView(): ElementView {
  return new MapView(new Map());
}

function hasNone(found: ReadonlyMap<ManagedSet, Map<Binary, Held>>): boolean {
  return found.values().every((elements) => elements.size === 0);
}

async function readSet(
  connection: NftConnection,
  family: TableFamily,
  set: ManagedSet,
): Promise<Map<Binary, Held>> {
  for (let attempt = 1; ; attempt++) {
    const held = new Map<Binary, Held>();
    const { consistent } = await connection.elements(TABLES[family], set, (element) => {
      held.set(element.key, heldOf(element));
    });
    if (consistent || attempt === MOST_ATTEMPTS) return held;
  }
}

const NOTHING_BUT_ITS_KEY: Held = {};

function heldOf({ value }: Held): Held {
  return value === undefined ? NOTHING_BUT_ITS_KEY : { value };
}

class MapView implements ElementView {
  readonly isWhole = true;
  readonly isEmpty: boolean;
  readonly #found: ReadonlyMap<ManagedSet, Map<Binary, Held>>;
  readonly #asked = new Map<SharedSet, Set<Binary>>();

  constructor(found: ReadonlyMap<ManagedSet, Map<Binary, Held>>) {
    this.#found = found;
    this.isEmpty = hasNone(found);
    for (const set of SHARED_SETS) this.#asked.set(set, new Set());
  }

  held(set: ManagedSet, { key }: Place): Held | undefined {
    const elements = this.#found.get(set);
    const held = elements?.get(key);
    if (!held) return undefined;
    const asked = this.#asked.get(set as SharedSet);
    // An element of a single row is asked for once, and need not be kept for longer.
    if (asked) asked.add(key);
    else elements?.delete(key);
    return held;
  }

  value(set: ManagedSet, key: Binary): Binary | undefined {
    return this.#found.get(set)?.get(key)?.value;
  }

  *leftovers(): Generator<Place & { readonly set: ManagedSet }> {
    for (const [set, elements] of this.#found) {
      const asked = this.#asked.get(set as SharedSet);
      for (const key of elements.keys()) if (!asked?.has(key)) yield { set, key };
    }
  }
}

/** Only what events reported. */
export class SuspectView implements ElementView {
  readonly isWhole = false;
  readonly isEmpty = false;
  readonly #suspects: Suspects;
  readonly #family: TableFamily;
  readonly #asked = new Set<string>();

  constructor(suspects: Suspects, family: TableFamily) {
    this.#suspects = suspects;
    this.#family = family;
  }

  held(set: ManagedSet, place: Place): Held | 'assumed' | undefined {
    const known = this.#suspects.element({ family: this.#family, set, ...place });
    if (known === undefined) return 'assumed';
    this.#asked.add(set + place.key);
    return known === 'absent' ? undefined : known;
  }

  value(): undefined {
    return undefined;
  }

  *leftovers(): Generator<Place & { readonly set: ManagedSet }> {
    for (const { held, ...place } of this.#suspects.elements(this.#family)) {
      if (held === 'absent' || this.#asked.has(place.set + place.key)) continue;
      yield place;
    }
  }
}
