/** A source may be read for a fiftieth of the time: then it takes at most 2 % of one CPU. */
const REST_FACTOR = 49;
/**
 * What may be spent ahead: a single slow reading, as the first one of a process that is not warm yet
 * or one of a machine that was busy, must not hide for seconds what happens next.
 */
const AHEAD_MS = 100;

/** When an expensive source may be read again. */
export class Rest {
  readonly #factor: number;
  #untilMs = Number.NEGATIVE_INFINITY;
  #readAtMs: number | undefined;
  /** Cost that the time since has not made up for. */
  #owedMs = 0;

  constructor(factor = REST_FACTOR) {
    this.#factor = factor;
  }

  isOver(nowMs: number): boolean {
    return nowMs >= this.#untilMs;
  }

  /** It was read until now, which cost so much. */
  begin(nowMs: number, { costMs, leastMs = 0 }: { costMs: number; leastMs?: number }): void {
    const madeUpMs = (nowMs - (this.#readAtMs ?? nowMs)) / this.#factor;
    this.#owedMs = Math.max(0, this.#owedMs - madeUpMs) + costMs;
    this.#readAtMs = nowMs;
    const aboveMs = Math.max(0, this.#owedMs - AHEAD_MS);
    this.#untilMs = nowMs + Math.max(leastMs, aboveMs * this.#factor);
  }

  /** Undefined: never read. */
  ageSeconds(nowMs: number): number | undefined {
    return this.#readAtMs === undefined ? undefined : (nowMs - this.#readAtMs) / 1000;
  }
}
