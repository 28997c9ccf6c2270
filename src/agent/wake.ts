import type { Clock } from '../cluster/clock.ts';

/** Timers do not know longer times, and every wait has an end. */
const LONGEST_MS = 3_600_000;

/** A call that may come at any time, also when nobody waits for it yet; many calls are one. */
export class Wake {
  #isCalled = false;
  #wakeUp: (() => void) | undefined;
  #endTimer: (() => void) | undefined;

  call(): void {
    this.#isCalled = true;
    this.#wakeUp?.();
  }

  /** Resolves at the call, after the time, or when the signal is aborted. */
  async wait(ms: number, { clock, signal }: { clock: Clock; signal: AbortSignal }): Promise<void> {
    // To end a timer makes two errors with their stacks. Who was called had something to do, which
    // came first: until now, or the end of everything, the timer of the last wait has gone on.
    this.#endTimer?.();
    if (!this.#isCalled && !signal.aborted && ms > 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = new AbortController();
      const end = (): void => {
        signal.removeEventListener('abort', end);
        this.#endTimer = undefined;
        timer.abort();
        resolve();
      };
      signal.addEventListener('abort', end);
      this.#endTimer = end;
      this.#wakeUp = resolve;
      await Promise.race([promise, clock.sleep(Math.min(ms, LONGEST_MS), timer.signal)]);
      this.#wakeUp = undefined;
    }
    this.#isCalled = false;
  }
}
