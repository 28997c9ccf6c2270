import { wantedClaims } from './holders.ts';
import type { Entry } from './outstanding-entry.ts';
import { removalWeight } from './weight.ts';

/** Rows that the kernel must take in one transaction: nearly always a single one. */
export type Unit = readonly Entry[];

export type HolderOf = (claim: string) => Entry | undefined;

/**
 * Orders rows so that a row that gives up an address comes before the row that takes it, and brings
 * the former in where it was not asked for. Rows that wait for each other, such as two Services that exchange
 * their node ports, are one unit: apart, neither could ever be written.
 */
export function unitsOf(entries: readonly Entry[], holderOf: HolderOf): Unit[] {
  const done = new Set<Entry>();
  return entries.flatMap((entry) => {
    const { rows, circle } = chainOf(entry, holderOf, done);
    return circle.length > 0 ? [rows] : rows.map((row) => [row]);
  });
}

/** Those that hold in the kernel what the row wants, each once. */
export function holdersFor(entry: Entry, holderOf: HolderOf): Entry[] {
  // One that is written in parts got what it wanted before its first part.
  if (entry.parts !== undefined) return [];
  const holders = new Set(wantedClaims(entry).map(holderOf));
  holders.delete(entry);
  holders.delete(undefined);
  return [...holders] as Entry[];
}

/** Among rows that wait for each other, the one whose removal costs least and unblocks another. */
export function lightestInCircle(unit: Unit, holderOf: HolderOf): Entry | undefined {
  const root = unit.at(-1);
  if (root === undefined) return undefined;
  const { circle } = chainOf(root, holderOf, new Set());
  const weights = circle.map((entry) => [entry, removalWeight(entry)] as const);
  return weights.sort(([, a], [, b]) => a - b)[0]?.[0];
}

interface Chain {
  readonly rows: readonly Entry[];
  /** A cycle of its rows, each waiting for the next. */
  readonly circle: readonly Entry[];
}

/** Without recursion: a chain of Services that hand over addresses may be longer than the stack. */
function chainOf(root: Entry, holderOf: HolderOf, done: Set<Entry>): Chain {
  const rows: Entry[] = [];
  let circle: readonly Entry[] = [];
  const open = new Map<Entry, Entry[]>();
  const path: Entry[] = [];
  const enter = (entry: Entry): void => {
    if (open.has(entry) && circle.length === 0) circle = path.slice(path.indexOf(entry));
    if (done.has(entry)) return;
    done.add(entry);
    open.set(entry, holdersFor(entry, holderOf).reverse());
    path.push(entry);
  };
  enter(root);
  for (let last = path.at(-1); last !== undefined; last = path.at(-1)) {
    const next = open.get(last)?.pop();
    if (next !== undefined) {
      enter(next);
      continue;
    }
    open.delete(last);
    path.pop();
    rows.push(last);
  }
  return { rows, circle };
}
