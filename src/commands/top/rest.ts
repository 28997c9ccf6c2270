/** A source may be read for a fiftieth of the time: then it takes at most 2 % of one CPU. */
const REST_FACTOR = 49;

/** When an expensive source may be read again. */
export class Rest {
  readonly #factor: number;
  #untilMs = Number.NEGATIVE_INFINITY;
  #readAtMs: number | undefined;

  constructor(factor = REST_FACTOR) {
    this.#factor = factor;
  }

  isOver(nowMs: number): boolean {
    return nowMs >= this.#untilMs;
  }

  /** It was read until now, which cost so much. */
  begin(nowMs: number, { costMs, leastMs = 0 }: { costMs: number; leastMs?: number }): void {
    this.#readAtMs = nowMs;
    this.#untilMs = nowMs + Math.max(leastMs, costMs * this.#factor);
  }

  /** Undefined: never read. */
  ageSeconds(nowMs: number): number | undefined {
    return this.#readAtMs === undefined ? undefined : (nowMs - this.#readAtMs) / 1000;
  }
}
