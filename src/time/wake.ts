import type { Clock } from './clock.ts';

/** Node's timers hold at most 24 days, and a caller that loops can check again once an hour. */
const LONGEST_MS = 3_600_000;

/** Without a reason an abort makes an Error with its stack. */
const CANCELLED = 'cancelled';

/** How long a wait lasts when no call comes. */
export interface WaitLimit {
  readonly ms: number;
  readonly clock: Clock;
}

/** Wakes one waiter. A call without a waiter is kept; several calls count as one. */
export class Wake {
  #isCalled = false;
  #resolve: (() => void) | undefined;
  #cancelTimer: (() => void) | undefined;

  call(): void {
    this.#isCalled = true;
    this.#resolve?.();
  }

  /** Resolves at the call, at once if one came since the last wait, on abort, or at the limit. */
  async wait(signal: AbortSignal, limit?: WaitLimit): Promise<void> {
    this.#cancelTimer?.();
    const isOver = limit !== undefined && limit.ms <= 0;
    if (!this.#isCalled && !signal.aborted && !isOver) {
      await (limit ? this.#waitAtMost(limit, signal) : this.#waitForCall(signal));
      this.#resolve = undefined;
    }
    this.#isCalled = false;
  }

  async #waitForCall(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#resolve = resolve;
    const onAbort = (): void => resolve();
    signal.addEventListener('abort', onAbort);
    await promise;
    signal.removeEventListener('abort', onAbort);
  }

  /**
   * The caller has work to do after a call: the timer keeps running until the next wait or the abort
   * cancels it.
   */
  async #waitAtMost({ ms, clock }: WaitLimit, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = new AbortController();
    const cancel = (): void => {
      signal.removeEventListener('abort', cancel);
      this.#cancelTimer = undefined;
      timer.abort(CANCELLED);
      resolve();
    };
    signal.addEventListener('abort', cancel);
    this.#cancelTimer = cancel;
    this.#resolve = resolve;
    await Promise.race([promise, clock.sleep(Math.min(ms, LONGEST_MS), timer.signal)]);
  }
}
