interface Dated<T> {
  readonly atMs: number;
  readonly what: T;
}

/** Things with a time, the earliest first: a binary heap. */
export class DeadlineHeap<T> {
  readonly #items: Dated<T>[] = [];

  get first(): Dated<T> | undefined {
    return this.#items[0];
  }

  push(atMs: number, what: T): void {
    const items = this.#items;
    let index = items.length;
    items.push({ atMs, what });
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (this.#atMs(parent) <= atMs) return;
      this.#swap(index, parent);
      index = parent;
    }
  }

  shift(): void {
    const last = this.#items.pop();
    if (last === undefined || this.#items.length === 0) return;
    this.#items[0] = last;
    this.#sink();
  }

  #sink(): void {
    for (let index = 0; ; ) {
      const left = 2 * index + 1;
      const child = this.#atMs(left + 1) < this.#atMs(left) ? left + 1 : left;
      if (this.#atMs(child) >= this.#atMs(index)) return;
      this.#swap(index, child);
      index = child;
    }
  }

  #atMs(index: number): number {
    return this.#items[index]?.atMs ?? Number.POSITIVE_INFINITY;
  }

  #swap(a: number, b: number): void {
    const [one, other] = [this.#items[a], this.#items[b]];
    if (one === undefined || other === undefined) return;
    this.#items[a] = other;
    this.#items[b] = one;
  }
}
