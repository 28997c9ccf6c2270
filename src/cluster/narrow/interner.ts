/**
 * Deduplicates equal strings and lists. A large cluster repeats a few of them, such as names of
 * nodes and lists of ports, hundreds of thousands of times.
 */
export class Interner {
  readonly #limit: number;
  readonly #texts = new Map<string, string>();
  readonly #lists = new Map<string, readonly unknown[]>();

  constructor(limit = 16_384) {
    this.#limit = limit;
  }

  text(value: string): string {
    if (value.length > LONGEST_TEXT) return value;
    const known = this.#texts.get(value);
    if (known !== undefined) return known;
    this.#texts.set(value, value);
    // Names change over months: clearing the table only costs sharing for a while.
    if (this.#texts.size > this.#limit) this.#texts.clear();
    return value;
  }

  /** For strings, or objects that differ in JSON. */
  list<T>(values: readonly T[]): readonly T[] {
    if (values.length === 0) return NONE;
    const key = JSON.stringify(values);
    if (key.length > LONGEST_LIST) return compact(values);
    const known = this.#lists.get(key);
    // Equal JSON means equal contents, so the cast is safe.
    if (known !== undefined) return known as readonly T[];
    const list = Object.freeze(compact(values));
    this.#lists.set(key, list);
    if (this.#lists.size > this.#limit) this.#lists.clear();
    return list;
  }
}

/**
 * No API name is longer. The limit counts entries, not bytes, so longer strings must not be kept.
 */
const LONGEST_TEXT = 253;
/** As JSON: some dozens of names or ports. */
const LONGEST_LIST = 4_096;

export const NONE: readonly never[] = Object.freeze([]);

/**
 * A copy without spare capacity: V8 allocates room for 17 items in an array filled by `push` or
 * `filter`. All empty lists are one.
 */
export function compact<T>(list: readonly T[]): readonly T[] {
  return list.length === 0 ? NONE : list.slice();
}
