import type { TableFamily } from '../../linux/nftables/protocol.ts';
import type { Binary } from '../../linux/nftables/userdata.ts';
import { type Class, classChainNames, classId, classSetOf } from './classes.ts';
import { CLASS_SETS, type ClassSet, SHARED_SETS, type SharedSet } from './sets.ts';

/** What must be known of a table of the kernel to translate a change without reading the table. */
export interface TableState {
  readonly family: TableFamily;
  /** Classes that have their chain. They stay when nobody uses them: making them anew is dear. */
  readonly classes: Readonly<Record<ClassSet, Map<number, Class>>>;
  /** Chains of classes; several treatments share the one that picks. */
  readonly chains: Set<string>;
  /** How many rows want an element. */
  readonly wanted: Readonly<Record<SharedSet, Map<Binary, number>>>;
}

export function emptyState(family: TableFamily): TableState {
  return {
    family,
    classes: byName(CLASS_SETS, () => new Map<number, Class>()),
    chains: new Set(),
    wanted: byName(SHARED_SETS, () => new Map<Binary, number>()),
  };
}

export function hasClass(state: TableState, of: Class): boolean {
  return state.classes[classSetOf(of)].has(classId(of));
}

export function addClass(state: TableState, of: Class): void {
  state.classes[classSetOf(of)].set(classId(of), of);
  for (const name of classChainNames(of)) state.chains.add(name);
}

export function knownClasses(state: TableState): Class[] {
  return CLASS_SETS.flatMap((set) => [...state.classes[set].values()]);
}

/** One more row wants it, or one fewer. */
export function count(wanted: Map<Binary, number>, key: Binary, by: number): void {
  const now = (wanted.get(key) ?? 0) + by;
  if (now > 0) wanted.set(key, now);
  else wanted.delete(key);
}

export function byName<N extends string, T>(names: readonly N[], make: (name: N) => T) {
  return Object.fromEntries(names.map((name) => [name, make(name)])) as Record<N, T>;
}
