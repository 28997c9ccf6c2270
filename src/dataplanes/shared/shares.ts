/**
 * How much of a bound is used, by namespace. Each may have half of what the others leave, so there
 * is room for others whatever one tenant does, and one alone has enough for a large cluster.
 */
export class Shares {
  readonly #most: number;
  readonly #used = new Map<string, number>();
  #total = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get total(): number {
    return this.#total;
  }

  /** Whoever has more than its share since others came keeps it, and gets no more. */
  hasRoom(namespace: string, count: number): boolean {
    if (count === 0) return true;
    const used = this.#of(namespace);
    const leftByOthers = this.#most - (this.#total - used);
    return used + count <= leftByOthers / 2;
  }

  /** Apart from shares: what is there already may stay. */
  hasAnyRoom(count: number): boolean {
    return this.#total + count <= this.#most;
  }

  change(namespace: string, by: number): void {
    const used = this.#of(namespace) + by;
    this.#total += by;
    if (used === 0) this.#used.delete(namespace);
    else this.#used.set(namespace, used);
  }

  #of(namespace: string): number {
    return this.#used.get(namespace) ?? 0;
  }
}
