import type { Clock } from '../cluster/clock.ts';

/** Timers do not know longer times, and every wait has an end. */
const LONGEST_MS = 3_600_000;

/** A call that may come at any time, also when nobody waits for it yet; many calls are one. */
export class Wake {
  #isCalled = false;
  #waiter: AbortController | undefined;

  call(): void {
    this.#isCalled = true;
    this.#waiter?.abort();
  }

  /** Resolves at the call, after the time, or when the signal is aborted. */
  async wait(ms: number, { clock, signal }: { clock: Clock; signal: AbortSignal }): Promise<void> {
    if (!this.#isCalled && !signal.aborted && ms > 0) {
      const waiter = new AbortController();
      const stop = (): void => waiter.abort();
      signal.addEventListener('abort', stop, { once: true });
      this.#waiter = waiter;
      await clock.sleep(Math.min(ms, LONGEST_MS), waiter.signal);
      this.#waiter = undefined;
      signal.removeEventListener('abort', stop);
    }
    this.#isCalled = false;
  }
}
