/** A send of less than 32 KiB needs no thread. */
const MOST_BYTES = 30 * 1024;
/** About eight messages. */
const LEAST_BYTES = 1024;
const FIRST_BYTES = 4 * 1024;
/** The event loop stands still meanwhile. */
const LONGEST_MS = 4;

/**
 * How much is sent at once. Most messages take the kernel microseconds, but one about a destination
 * of a server with scheduler \`mh\` fills a table anew, and one that adds a destination after thousands
 * were deleted is compared with all of those: a batch grows while it takes little time, and shrinks.
 */
export class BatchPace {
  #bytes = FIRST_BYTES;

  get bytes(): number {
    return this.#bytes;
  }

  sent(bytes: number, tookMs: number): void {
    const possible = tookMs > 0 ? (bytes * LONGEST_MS) / tookMs : MOST_BYTES;
    const next = Math.min(possible, this.#bytes * 2, MOST_BYTES);
    this.#bytes = Math.max(LEAST_BYTES, Math.floor(next));
  }
}
