import type { Quantiles } from './snapshot.ts';

const KEPT = 1000;

/** The last thousand values of something. */
export class RecentValues {
  readonly #values: number[] = [];
  #next = 0;

  add(value: number): void {
    this.#values[this.#next] = value;
    this.#next = (this.#next + 1) % KEPT;
  }

  quantiles(): Quantiles {
    const sorted = this.#values.toSorted((a, b) => a - b);
    const at = (share: number): number =>
      sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
    return { count: sorted.length, p50Ms: at(0.5), p90Ms: at(0.9), p99Ms: at(0.99), maxMs: at(1) };
  }
}
