/** Wakes a waiter; a call without a waiter is kept. */
export class Wakeup {
  #rung = false;
  #waiter: (() => void) | undefined;

  wake(): void {
    this.#rung = true;
    this.#waiter?.();
  }

  /** Resolves on a call, after the time, or on abort, whichever is first. */
  async wait(until: {
    readonly signal: AbortSignal;
    readonly timeoutMs: number | undefined;
  }): Promise<void> {
    const { signal, timeoutMs } = until;
    if (!this.#rung && !signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = timeoutMs === undefined ? undefined : setTimeout(resolve, timeoutMs);
      const onAbort = () => resolve();
      signal.addEventListener('abort', onAbort);
      this.#waiter = resolve;
      await promise;
      this.#waiter = undefined;
      signal.removeEventListener('abort', onAbort);
      clearTimeout(timer);
    }
    this.#rung = false;
  }
}
