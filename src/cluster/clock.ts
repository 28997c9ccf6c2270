import { setTimeout as delay } from 'node:timers/promises';

/** The clock as a parameter, so that waits can be tested without waiting. */
export interface Clock {
  /**
   * Milliseconds since some moment: for every wait, deadline and age. It never jumps, and does not
   * count the time in which the machine was suspended.
   */
  monotonicMs(): number;
  /** Milliseconds since 1970: for dates that a person or the API reads. It may be set at any time. */
  wallMs(): number;
  /** Resolves after the time, or at once when the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  monotonicMs: () => performance.now(),
  wallMs: () => Date.now(),
  async sleep(ms, signal) {
    try {
      // setTimeout truncates fractions, and would fire just before the deadline.
      await delay(Math.ceil(ms), undefined, { signal });
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  },
};
