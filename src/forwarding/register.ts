import type { ServiceObject, SliceObject } from '../cluster/objects.ts';
import type { Claimant } from './claims.ts';
import type { Forwarding } from './model.ts';

/**
 * All objects of one Service name, found with one lookup. Slices may precede their Service and
 * outlive it.
 */
export interface Entry {
  /** `namespace/name`. */
  readonly name: string;
  service: ServiceObject | undefined;
  /**
   * Sorted by name: which of two equal endpoints counts must not depend on the order of arrival. A
   * long list is changed in place, because copying it for each of thousands of slices takes
   * seconds.
   */
  slices: readonly SliceObject[];
  /** Its claims, while it exists. */
  claimants: readonly Claimant[];
  /** Claims of others that affect its addresses. */
  watched: readonly string[];
  /** In the order of its ports, IPv4 first. */
  rows: readonly Forwarding[];
}

/** A slice that an entry gained or lost. */
export interface SliceMove {
  readonly entry: Entry;
  readonly slice: SliceObject;
}

/** Services and slices by name. */
export class Register {
  readonly #entries = new Map<string, Entry>();
  /** By slice name, because its label may have named another Service before. */
  readonly #holders = new Map<string, Entry>();

  get(name: string): Entry | undefined {
    return this.#entries.get(name);
  }

  /** Creates an empty entry if there is none. */
  entry(name: string): Entry {
    const known = this.#entries.get(name);
    if (known !== undefined) return known;
    const entry = { name, service: undefined, slices: [], claimants: [], watched: [], rows: [] };
    this.#entries.set(name, entry);
    return entry;
  }

  entries(): Iterable<Entry> {
    return this.#entries.values();
  }

  /** Returns the moves: two if the slice was known, possibly of two Services. */
  putSlice(slice: SliceObject): SliceMove[] {
    const key = nameOf(slice.namespace, slice.name);
    const lost = this.#find(key, slice.name);
    const isServed = slice.service !== '' && !slice.headless;
    if (isServed && lost?.slice.service === slice.service) {
      const { entry } = lost;
      splice(entry, placeOf(entry, slice.name), { out: 1, in: [slice] });
      return [lost, { entry, slice }];
    }
    const moves = lost === undefined ? [] : [this.#remove(key, lost)];
    if (!isServed) return moves;
    const entry = this.entry(nameOf(slice.namespace, slice.service));
    splice(entry, placeOf(entry, slice.name), { out: 0, in: [slice] });
    this.#holders.set(key, entry);
    return [...moves, { entry, slice }];
  }

  deleteSlice(key: string): SliceMove | undefined {
    const found = this.#find(key, key.slice(key.indexOf('/') + 1));
    return found && this.#remove(key, found);
  }

  /** Deletes an empty entry. */
  release(entry: Entry): void {
    if (entry.service === undefined && entry.slices.length === 0) this.#entries.delete(entry.name);
  }

  /** The slices of a Service are in its namespace, so their names alone are unique. */
  #find(key: string, name: string): SliceMove | undefined {
    const entry = this.#holders.get(key);
    const slice = entry?.slices[placeOf(entry, name)];
    return entry && slice?.name === name ? { entry, slice } : undefined;
  }

  #remove(key: string, lost: SliceMove): SliceMove {
    this.#holders.delete(key);
    splice(lost.entry, placeOf(lost.entry, lost.slice.name), { out: 1, in: [] });
    return lost;
  }
}

/** Binary search: index of the slice, or its insertion point. */
function placeOf({ slices }: Entry, name: string): number {
  let [low, high] = [0, slices.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((slices[middle] as SliceObject).name < name) low = middle + 1;
    else high = middle;
  }
  return low;
}

const LONG = 64;

/** A copy has room for its own items only, which is what tens of thousands of short lists need. */
function splice(
  entry: Entry,
  at: number,
  change: { readonly out: number; readonly in: readonly SliceObject[] },
): void {
  if (entry.slices.length < LONG) {
    entry.slices = entry.slices.toSpliced(at, change.out, ...change.in);
  } else {
    (entry.slices as SliceObject[]).splice(at, change.out, ...change.in);
  }
}

/**
 * Joined rather than concatenated: V8 keeps a concatenation as a tree of its parts, which takes
 * more room than the text and is slower to look up.
 */
export function nameOf(namespace: string, name: string): string {
  return [namespace, name].join('/');
}
