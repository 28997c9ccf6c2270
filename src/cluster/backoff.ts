/** Delay after failures, with jitter, so that many clients do not return at the same moment. */
export interface BackoffOptions {
  readonly firstMs: number;
  readonly mostMs: number;
  readonly factor: number;
  /** After this time without a failure the backoff starts over. */
  readonly forgetAfterMs: number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

/** The delays of client-go's reflector. */
export const REFLECTOR_BACKOFF = {
  firstMs: 800,
  mostMs: 30_000,
  factor: 2,
  forgetAfterMs: 120_000,
} as const;

export class Backoff {
  readonly #options: BackoffOptions;
  #ceilingMs = 0;
  #lastFailureAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: BackoffOptions) {
    this.#options = options;
  }

  /** Delay after a failure at this time: uniform up to a growing ceiling. */
  afterFailure(nowMs: number): number {
    const { firstMs, mostMs, factor, forgetAfterMs, random } = this.#options;
    const isFirst = this.#ceilingMs === 0 || nowMs - this.#lastFailureAtMs >= forgetAfterMs;
    this.#ceilingMs = isFirst ? firstMs : Math.min(this.#ceilingMs * factor, mostMs);
    this.#lastFailureAtMs = nowMs;
    return Math.round(this.#ceilingMs * random());
  }
}
