/** What is written into small maps is put right within a second, into large ones within six. */
const EVERY_MS = 250;
const AT_LEAST_EVERY_MS = 5000;
/** A look takes at most about this part of a processor. */
const MOST_LOOKING = 1 / 100;
const REMEMBERED = 8;

/** How long to rest between two looks at the maps, which cost the more the larger these are. */
export class LookPace {
  #recentMs: readonly number[] = [];

  /** Of a look that took so much of the processor, and of those before: other work came in between some. */
  restMs(tookMs: number): number {
    this.#recentMs = [...this.#recentMs, tookMs].slice(-REMEMBERED);
    const costMs = Math.min(...this.#recentMs);
    return Math.min(Math.max(EVERY_MS, costMs / MOST_LOOKING), AT_LEAST_EVERY_MS);
  }

  /** Before the first. */
  get firstRestMs(): number {
    return EVERY_MS;
  }
}
