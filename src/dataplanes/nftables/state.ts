import type { TableFamily } from '../../linux/nftables/nftables-protocol.ts';
import type { Binary } from '../../linux/nftables/userdata.ts';
import { type Class, classChainNames, classId, classSetOf } from './classes.ts';
import { CLASS_SETS, type ClassSet, SHARED_SETS, type SharedSet } from './nftables-sets.ts';

/** The state of a kernel table that is needed to translate a change without reading the table. */
export interface TableState {
  readonly family: TableFamily;
  /** Classes that have their chain. A full inspection removes the unused ones. */
  readonly classes: Readonly<Record<ClassSet, Map<number, Class>>>;
  /** Chains of classes; several treatments share the one that picks. */
  readonly chains: Set<string>;
  /** How many rows use an element; for source ranges, whether it is there. */
  readonly wanted: Readonly<Record<SharedSet, Map<Binary, number>>>;
  /** How many rows use a list of source ranges, by its number. */
  readonly sourceLists: Map<number, number>;
}

export function emptyState(family: TableFamily): TableState {
  return {
    family,
    classes: byName(CLASS_SETS, () => new Map<number, Class>()),
    chains: new Set(),
    wanted: byName(SHARED_SETS, () => new Map<Binary, number>()),
    sourceLists: new Map(),
  };
}

export function hasClass(state: TableState, rowClass: Class): boolean {
  return state.classes[classSetOf(rowClass)].has(classId(rowClass));
}

export function addClass(state: TableState, rowClass: Class): void {
  state.classes[classSetOf(rowClass)].set(classId(rowClass), rowClass);
  for (const name of classChainNames(rowClass)) state.chains.add(name);
}

export function knownClasses(state: TableState): Class[] {
  return CLASS_SETS.flatMap((set) => [...state.classes[set].values()]);
}

/** One more row wants it, or one fewer. */
export function count<K>(wanted: Map<K, number>, key: K, by: number): void {
  const now = (wanted.get(key) ?? 0) + by;
  if (now > 0) wanted.set(key, now);
  else wanted.delete(key);
}

/** How many want a shared element after a change. Ranges belong to their list: they are there or not. */
export function wantedAfter(set: SharedSet, before: number, by: number): number {
  if (set !== 'source-ranges' || by === 0) return Math.max(0, before + by);
  return by > 0 ? 1 : 0;
}

export function byName<N extends string, T>(names: readonly N[], make: (name: N) => T) {
  return Object.fromEntries(names.map((name) => [name, make(name)])) as Record<N, T>;
}
