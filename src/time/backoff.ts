/** How long to wait after failures, with jitter so that many clients do not return at once. */
export interface BackoffOptions {
  readonly firstMs: number;
  readonly mostMs: number;
  readonly factor: number;
  /** After this time without a failure the next one counts as the first. */
  readonly forgetAfterMs: number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

export class Backoff {
  readonly #options: BackoffOptions;
  #ceilingMs = 0;
  #lastFailureAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: BackoffOptions) {
    this.#options = options;
  }

  /** How long to wait after a failure at this time: random, up to a ceiling that grows. */
  afterFailure(nowMs: number): number {
    const { firstMs, mostMs, factor, forgetAfterMs, random } = this.#options;
    const isFirst = this.#ceilingMs === 0 || nowMs - this.#lastFailureAtMs >= forgetAfterMs;
    this.#ceilingMs = isFirst ? firstMs : Math.min(this.#ceilingMs * factor, mostMs);
    this.#lastFailureAtMs = nowMs;
    return Math.round(this.#ceilingMs * random());
  }
}
