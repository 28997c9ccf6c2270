import { sleep } from './sleep.ts';

/** Time, as a parameter: code that waits can be tested without waiting. */
export interface Clock {
  /**
   * Milliseconds since an arbitrary start: for every wait, deadline and age. It never jumps, and
   * does not count the time in which the machine was suspended.
   */
  monotonicMs(): number;
  /** Milliseconds since 1970: for dates that a person or the API reads. It can be set at any time. */
  wallMs(): number;
  /** Resolves after the time, or at once when the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  monotonicMs: () => performance.now(),
  wallMs: () => Date.now(),
  sleep,
};
