/**
 * Gives equal strings and lists the same place in memory. A large cluster repeats few names, such
 * as those of nodes and zones, hundreds of thousands of times.
 */
export class Interner {
  readonly #limit: number;
  readonly #texts = new Map<string, string>();
  readonly #lists = new Map<string, readonly string[]>();

  constructor(limit = 16_384) {
    this.#limit = limit;
  }

  text(value: string): string {
    const known = this.#texts.get(value);
    if (known !== undefined) return known;
    this.#texts.set(value, value);
    // Names come and go for months. Starting afresh costs sharing for a while and nothing else.
    if (this.#texts.size > this.#limit) this.#texts.clear();
    return value;
  }

  list(values: readonly string[]): readonly string[] {
    if (values.length === 0) return NO_TEXTS;
    const key = JSON.stringify(values);
    const known = this.#lists.get(key);
    if (known !== undefined) return known;
    const list = Object.freeze(values.map((value) => this.text(value)));
    this.#lists.set(key, list);
    if (this.#lists.size > this.#limit) this.#lists.clear();
    return list;
  }
}

export const NO_TEXTS: readonly string[] = Object.freeze([]);

/** The list itself, or the one empty list that all share. */
export function orNone<T>(list: readonly T[]): readonly T[] {
  return list.length === 0 ? (NO_TEXTS as readonly never[]) : list;
}
