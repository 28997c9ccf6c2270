/** A look takes at most about this part of a processor. */
const MOST_LOOKING = 1 / 100;
const REMEMBERED = 8;

/** How long to rest between two looks, which cost the more the more there is to look at. */
export class LookPace {
  readonly #everyMs: number;
  readonly #atLeastEveryMs: number;
  #recentMs: readonly number[] = [];

  /** `atLeastEveryMs`: however much it costs. */
  constructor(of: { readonly everyMs: number; readonly atLeastEveryMs: number }) {
    this.#everyMs = of.everyMs;
    this.#atLeastEveryMs = of.atLeastEveryMs;
  }

  /** Of a look that took so much of the processor, and of those before: other work came in between some. */
  restMs(tookMs: number): number {
    this.#recentMs = [...this.#recentMs, tookMs].slice(-REMEMBERED);
    const costMs = Math.min(...this.#recentMs);
    return Math.min(Math.max(this.#everyMs, costMs / MOST_LOOKING), this.#atLeastEveryMs);
  }

  /** Before the first. */
  get firstRestMs(): number {
    return this.#everyMs;
  }
}
