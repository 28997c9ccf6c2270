/** A binary min-heap. */
export class Heap<T> {
  readonly #items: T[] = [];
  readonly #isBefore: (a: T, b: T) => boolean;

  constructor(isBefore: (a: T, b: T) => boolean) {
    this.#isBefore = isBefore;
  }

  /** The smallest item, without removing it. */
  get first(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    let at = this.#items.push(item) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#swapIfBefore(at, parent)) return;
      at = parent;
    }
  }

  pop(): T | undefined {
    const first = this.#items[0];
    const last = this.#items.pop();
    if (last === undefined || this.#items.length === 0) return first;
    this.#items[0] = last;
    this.#sink();
    return first;
  }

  #sink(): void {
    let at = 0;
    for (;;) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      const lesser = this.#isLess(right, left) ? right : left;
      if (lesser >= this.#items.length || !this.#swapIfBefore(lesser, at)) return;
      at = lesser;
    }
  }

  #isLess(a: number, b: number): boolean {
    if (a >= this.#items.length) return false;
    return this.#isBefore(this.#items[a] as T, this.#items[b] as T);
  }

  #swapIfBefore(lower: number, upper: number): boolean {
    const [a, b] = [this.#items[lower] as T, this.#items[upper] as T];
    if (!this.#isBefore(a, b)) return false;
    this.#items[upper] = a;
    this.#items[lower] = b;
    return true;
  }
}
