/**
 * Room for lists of words, in blocks of a power of two. A block that is freed joins its neighbour,
 * so that many short lists leave room for a long one.
 */
export class ListMemory {
  /** Starts of free blocks, by exponent. */
  readonly #free: readonly Set<number>[];

  constructor(exponent: number) {
    this.#free = Array.from({ length: exponent + 1 }, () => new Set<number>());
    this.#free[exponent]?.add(0);
  }

  /** The start of 2^exponent words; undefined: there is no room for them. */
  take(exponent: number): number | undefined {
    const blocks = this.#free[exponent];
    if (blocks === undefined) return undefined;
    const [start] = blocks;
    if (start !== undefined) {
      blocks.delete(start);
      return start;
    }
    const larger = this.take(exponent + 1);
    if (larger !== undefined) blocks.add(larger + 2 ** exponent);
    return larger;
  }

  free(start: number, exponent: number): void {
    const size = 2 ** exponent;
    const neighbour = start % (2 * size) === 0 ? start + size : start - size;
    if (this.#free[exponent]?.delete(neighbour))
      this.free(Math.min(start, neighbour), exponent + 1);
    else this.#free[exponent]?.add(start);
  }
}
