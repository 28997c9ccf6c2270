import type { DataPlane, Drift } from '../dataplanes/contract.ts';
import type { Clock } from '../time/clock.ts';
import { type Random, retryDelayMs } from '../time/retry-delay.ts';
import { type Failure, failureOf } from './failure.ts';

const LONGEST_AWAY_MS = 5000;
/** After this long without a failure the backoff is reset. */
const STEADY_MS = 60_000;

export interface PlaneWatchOptions {
  readonly plane: DataPlane;
  readonly clock: Clock;
  readonly random: Random;
  readonly onDrift: (drift: Drift) => void;
  /** The watch is established again: changes in between were not reported. */
  readonly onResumed: () => void;
  readonly onInterrupted: (failure: Failure) => void;
}

/** Watches the plane for as long as the agent runs; starts a watch that ended again. */
export class PlaneWatch {
  readonly #options: PlaneWatchOptions;
  #interruption: Failure | undefined;

  constructor(options: PlaneWatchOptions) {
    this.#options = options;
  }

  /** Why changes are not reported at present; undefined: they are. */
  get interruption(): Failure | undefined {
    return this.#interruption;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, random, onResumed, onInterrupted } = this.#options;
    let attempts = 0;
    while (!signal.aborted) {
      const begunAtMs = clock.monotonicMs();
      if (this.#interruption !== undefined) onResumed();
      this.#interruption = undefined;
      const failure = await this.#watchOnce(signal);
      if (signal.aborted) return;
      this.#interruption = failure;
      onInterrupted(failure);
      attempts = clock.monotonicMs() - begunAtMs >= STEADY_MS ? 1 : attempts + 1;
      await clock.sleep(retryDelayMs(attempts, { mostMs: LONGEST_AWAY_MS, random }), signal);
    }
  }

  /** Gives why it ended. */
  async #watchOnce(signal: AbortSignal): Promise<Failure> {
    const { plane, clock, onDrift } = this.#options;
    try {
      await plane.watch(onDrift, signal);
    } catch (error) {
      return failureOf(error, clock.monotonicMs());
    }
    const message = 'the watch for external changes ended unexpectedly';
    const next = 'no action needed: it is restarted';
    return { code: 'PLANE_WATCH_ENDED', message, next, atMs: clock.monotonicMs() };
  }
}
