export interface TokenBucketOptions {
  readonly burst: number;
  readonly refillEveryMs: number;
}

/** So many at once, and then one in each interval. */
export class TokenBucket {
  readonly #options: TokenBucketOptions;
  #tokens: number;
  #countedAtMs: number | undefined;

  constructor(options: TokenBucketOptions) {
    this.#options = options;
    this.#tokens = options.burst;
  }

  /**
   * At a time of the monotonic clock. 0: go ahead. Otherwise the time to wait before the next call.
   */
  take(nowMs: number): number {
    const { burst, refillEveryMs } = this.#options;
    this.#countedAtMs ??= nowMs;
    const refillCount = Math.floor((nowMs - this.#countedAtMs) / refillEveryMs);
    this.#tokens = Math.min(burst, this.#tokens + refillCount);
    this.#countedAtMs += refillCount * refillEveryMs;
    if (this.#tokens > 0) {
      this.#tokens--;
      return 0;
    }
    return refillEveryMs - (nowMs - this.#countedAtMs);
  }
}
