/**
 * Finds a key whose weight is within a factor of two of the largest, at a constant cost: keys of
 * similar weight share a class, the one that entered it first in front.
 */
export class WeightClasses {
  readonly #classes: Set<string>[] = [];
  readonly #classOf = new Map<string, number>();

  /** 0: forget the key. */
  set(key: string, weight: number): void {
    const now = weight <= 0 ? undefined : 32 - Math.clz32(weight);
    const before = this.#classOf.get(key);
    if (now === before) return;
    if (before !== undefined) this.#classes[before]?.delete(key);
    if (now === undefined) {
      this.#classOf.delete(key);
      return;
    }
    this.#classOf.set(key, now);
    while (this.#classes.length <= now) this.#classes.push(new Set());
    this.#classes[now]?.add(key);
  }

  heaviest(): string | undefined {
    for (let index = this.#classes.length - 1; index >= 0; index--) {
      for (const key of this.#classes[index] ?? []) return key;
    }
    return undefined;
  }
}
