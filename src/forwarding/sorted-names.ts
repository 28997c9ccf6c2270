/** So many that came or went are remembered; after more of them all names are read again. */
const MOST_MOVED = 1_000;

/** Names in order, kept so that asking for them again costs nothing while none comes or goes. */
export class SortedNames {
  #sorted: readonly string[] = [];
  /** Whether each of those that came or went since is there now; undefined: too many, or never read. */
  #moved: Map<string, boolean> | undefined;

  add(name: string): void {
    this.#note(name, true);
  }

  delete(name: string): void {
    this.#note(name, false);
  }

  /** The next call may give another array, and leaves this one as it is. `all`: read only if necessary. */
  list(all: () => Iterable<string>): readonly string[] {
    const moved = this.#moved;
    if (moved?.size === 0) return this.#sorted;
    const added = new Set(moved === undefined ? all() : thereNow(moved));
    const isAsBefore = (name: string): boolean => moved !== undefined && !moved.has(name);
    const kept = this.#sorted.filter((name) => added.delete(name) || isAsBefore(name));
    // Most are in order already, which the sort makes use of: 50,000 names take it 40 ms otherwise.
    this.#sorted = [...kept, ...added].sort();
    this.#moved = new Map();
    return this.#sorted;
  }

  #note(name: string, isThere: boolean): void {
    this.#moved?.set(name, isThere);
    if ((this.#moved?.size ?? 0) > MOST_MOVED) this.#moved = undefined;
  }
}

function* thereNow(moved: ReadonlyMap<string, boolean>): Generator<string> {
  for (const [name, isThere] of moved) if (isThere) yield name;
}
