const MOST_MS = 30_000;
/** After so long without an end the next one counts as the first. */
const STEADY_MS = 60_000;

/** When a forwarder that ended may be started again: at once, then after 1, 2, 4 … 30 s. */
export class Restarts {
  #failures = 0;
  #lastAtMs = Number.NEGATIVE_INFINITY;
  #retryAtMs = Number.NEGATIVE_INFINITY;

  ended(nowMs: number): void {
    this.#failed(nowMs, 0);
  }

  /** It never ran: there is no reason to believe that the next attempt succeeds. */
  notStarted(nowMs: number): void {
    this.#failed(nowMs, 1);
  }

  get retryAtMs(): number {
    return this.#retryAtMs;
  }

  #failed(nowMs: number, least: number): void {
    const isSteady = nowMs - this.#lastAtMs >= STEADY_MS;
    const failures = Math.max(isSteady ? 0 : this.#failures, least);
    this.#lastAtMs = nowMs;
    this.#failures = failures + 1;
    const delayMs = failures === 0 ? 0 : Math.min(1000 * 2 ** (failures - 1), MOST_MS);
    this.#retryAtMs = nowMs + delayMs;
  }
}
