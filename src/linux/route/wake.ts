/** Keeps a call until it is awaited; several become one. */
export class Wake {
  #called = false;
  #onCall: (() => void) | undefined;

  call(): void {
    this.#called = true;
    this.#onCall?.();
  }

  /** Resolves at the next call, at once if one came since the last wait, or on abort. */
  async wait(signal: AbortSignal): Promise<void> {
    if (!this.#called && !signal.aborted) await this.#callOrAbort(signal);
    this.#called = false;
  }

  /** Takes its listener off the signal again: the signal lives as long as the program. */
  async #callOrAbort(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onCall = resolve;
    const onAbort = () => resolve();
    signal.addEventListener('abort', onAbort);
    await promise;
    signal.removeEventListener('abort', onAbort);
    this.#onCall = undefined;
  }
}
