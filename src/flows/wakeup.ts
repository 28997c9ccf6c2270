/** A bell for one who waits: a ring while nobody waits is not lost. */
export class Wakeup {
  #rung = false;
  #waiter: (() => void) | undefined;

  wake(): void {
    this.#rung = true;
    this.#waiter?.();
  }

  /** Resolves when rung, after the time, or when aborted, whichever is first. */
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
