import type { Clock } from '../../time/clock.ts';

/** Scrapes take at most about this part of the time for a read that goes over everything. */
const MOST_READING = 1 / 50;

/** Reads for scrapes, and leaves one out while another would cost too much. */
export class PacedRead {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #notBeforeMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  async run({ read, onFailure }: { read(): Promise<void>; onFailure(): void }): Promise<void> {
    const startedMs = this.#clock.monotonicMs();
    if (startedMs < this.#notBeforeMs) return;
    try {
      await read();
    } catch {
      // The next inspection reports why; a scrape must not fail for it.
      onFailure();
    }
    const tookMs = this.#clock.monotonicMs() - startedMs;
    this.#notBeforeMs = startedMs + tookMs / MOST_READING;
  }
}
