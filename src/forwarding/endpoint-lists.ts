import type { SliceObject } from '../cluster/objects.ts';
import {
  compareKeys,
  type KnownEndpoint,
  type Listed,
  listedEndpoints,
  withoutTwins,
} from './endpoints.ts';
import type { Family, NodeView, ServicePortId } from './model.ts';
import { indexSlicePorts, type PortOfSlice, portName, type SlicePortIndex } from './slice-ports.ts';
import type { InTurns } from './turns.ts';

interface List {
  readonly listed: readonly Listed[];
  /** A new array whenever it changed. */
  readonly known: readonly KnownEndpoint[];
}

/**
 * The endpoints of a large Service in one family, cached so that a changed slice costs only reading
 * and merging that slice.
 */
export class EndpointLists {
  readonly #family: Family;
  readonly #view: NodeView;
  #slices: readonly SliceObject[] = [];
  #lists: ReadonlyMap<string, List> = new Map();

  constructor(family: Family, view: NodeView) {
    this.#family = family;
    this.#view = view;
  }

  /** Number of cached endpoints. */
  get size(): number {
    let size = 0;
    for (const { listed } of this.#lists.values()) size += listed.length;
    return size;
  }

  of(id: ServicePortId): readonly KnownEndpoint[] {
    return this.#lists.get(portName(id.port, id.protocol))?.known ?? NONE;
  }

  /** The slices must be sorted by name. What was cached before stays until the end. */
  *update(ids: readonly ServicePortId[], slices: readonly SliceObject[]): InTurns<void> {
    // The register changes long lists in place.
    const now = slices.slice();
    const changes = difference(this.#slices, now);
    const gone = indexSlicePorts(changes.gone, this.#family);
    const come = indexSlicePorts(changes.come, this.#family);
    // Only needed for a new port.
    let all: SlicePortIndex | undefined;
    const lists = new Map<string, List>();
    for (const id of ids) {
      const name = portName(id.port, id.protocol);
      const list = this.#lists.get(name);
      if (list === undefined) {
        all ??= indexSlicePorts(now, this.#family);
        lists.set(name, listOf(yield* this.#listed(id, all.get(name) ?? NOWHERE)));
      } else {
        const listed = yield* this.#listed(id, come.get(name) ?? NOWHERE);
        lists.set(name, changed(list, { gone: gone.get(name) ?? NOWHERE, come: listed }));
      }
    }
    this.#lists = lists;
    this.#slices = now;
  }

  /** Sorted. */
  *#listed(id: ServicePortId, ports: readonly PortOfSlice[]): InTurns<readonly Listed[]> {
    let parts: (readonly Listed[])[] = [];
    for (let from = 0; from < ports.length; from += SLICES_AT_ONCE) {
      const part = listedEndpoints(id, ports.slice(from, from + SLICES_AT_ONCE), this.#view);
      parts.push(part);
      yield part.length;
    }
    while (parts.length > 1) {
      const pairs: (readonly Listed[])[] = [];
      for (let index = 0; index < parts.length; index += 2) {
        const pair = merged(parts[index] ?? [], parts[index + 1] ?? []);
        pairs.push(pair);
        yield pair.length / ENDPOINTS_MERGED_FOR_ONE_READ;
      }
      parts = pairs;
    }
    return parts[0] ?? [];
  }
}

/** Of at most a thousand endpoints each. */
const SLICES_AT_ONCE = 4;
const ENDPOINTS_MERGED_FOR_ONE_READ = 8;
const NONE: readonly KnownEndpoint[] = [];
const NOWHERE: readonly PortOfSlice[] = [];

function listOf(listed: readonly Listed[]): List {
  return { listed, known: withoutTwins(listed) };
}

function changed(
  list: List,
  by: { readonly gone: readonly PortOfSlice[]; readonly come: readonly Listed[] },
): List {
  if (by.gone.length === 0 && by.come.length === 0) return list;
  const gone = new Set(by.gone.map(({ slice }) => slice));
  const kept = gone.size === 0 ? list.listed : list.listed.filter(({ slice }) => !gone.has(slice));
  return listOf(merged(kept, by.come));
}

/** Equal endpoints are in the order of their slices, which have unique names. */
function compareListed(a: Listed, b: Listed): number {
  return compareKeys(a, b) || (a.slice.name < b.slice.name ? -1 : Number(a.slice !== b.slice));
}

/** Merges two sorted lists. */
function merged(many: readonly Listed[], few: readonly Listed[]): readonly Listed[] {
  if (few.length === 0) return many;
  if (few.length * 4 > many.length) return many.concat(few).sort(compareListed);
  const all: Listed[] = [];
  let from = 0;
  for (const item of few) {
    const to = placeOf(item, many, from);
    for (; from < to; from++) all.push(many[from] as Listed);
    all.push(item);
  }
  for (; from < many.length; from++) all.push(many[from] as Listed);
  return all;
}

/** Binary search: index of the first item after this one. */
function placeOf(item: Listed, sorted: readonly Listed[], from: number): number {
  let [low, high] = [from, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareListed(sorted[middle] as Listed, item) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Differences of two lists sorted by name; a replaced slice counts as removed and added. */
function difference(
  before: readonly SliceObject[],
  after: readonly SliceObject[],
): { gone: SliceObject[]; come: SliceObject[] } {
  const gone: SliceObject[] = [];
  const come: SliceObject[] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    const [old, now] = [before[i], after[j]];
    if (old === now) {
      i++;
      j++;
    } else if (old !== undefined && (now === undefined || old.name <= now.name)) {
      gone.push(old);
      i++;
    } else if (now !== undefined) {
      come.push(now);
      j++;
    }
  }
  return { gone, come };
}
