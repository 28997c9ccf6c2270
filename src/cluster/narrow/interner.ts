/**
 * Gives equal strings and lists the same place in memory. A large cluster repeats few of them, such
 * as names of nodes and lists of ports, hundreds of thousands of times.
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
    // Names come and go for months. Starting afresh costs sharing for a while and nothing else.
    if (this.#texts.size > this.#limit) this.#texts.clear();
    return value;
  }

  /** Of texts, or of objects that JSON can tell apart. */
  list<T>(values: readonly T[]): readonly T[] {
    if (values.length === 0) return NONE;
    const key = JSON.stringify(values);
    if (key.length > LONGEST_LIST) return compact(values);
    const known = this.#lists.get(key);
    // Equal JSON is equal contents, so what is found is such a list as was given.
    if (known !== undefined) return known as readonly T[];
    const list = Object.freeze(compact(values));
    this.#lists.set(key, list);
    if (this.#lists.size > this.#limit) this.#lists.clear();
    return list;
  }
}

/** No name of the API is longer. What is must not fill the memory: the limit counts, not weighs. */
const LONGEST_TEXT = 253;
/** As JSON: some dozens of names or ports. */
const LONGEST_LIST = 4_096;

export const NONE: readonly never[] = Object.freeze([]);

/**
 * The list for keeping: V8 makes room for 17 items in one that is filled by `push` or `filter`, and
 * a copy has room for its own only. All empty ones are one.
 */
export function compact<T>(list: readonly T[]): readonly T[] {
  return list.length === 0 ? NONE : list.slice();
}
