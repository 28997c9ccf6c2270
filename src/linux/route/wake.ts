/** A call that is kept until somebody waits for it; several before that are one. */
export class Wake {
  #called = false;
  #onCall: (() => void) | undefined;

  call(): void {
    this.#called = true;
    this.#onCall?.();
  }

  /** Resolves at the next call, at once if one came since the last wait, or on abort. */
  async wait(signal: AbortSignal): Promise<void> {
    if (!this.#called) {
      await orAbort(signal, (resolve) => {
        this.#onCall = resolve;
        return () => {
          this.#onCall = undefined;
        };
      });
    }
    this.#called = false;
  }
}

/** Resolves after some time or on abort, whichever is first. */
export async function pause(durationMs: number, signal: AbortSignal): Promise<void> {
  await orAbort(signal, (resolve) => {
    const timer = setTimeout(resolve, durationMs);
    return () => clearTimeout(timer);
  });
}

/** Takes its listener off the signal again: the signal lives as long as the program. */
async function orAbort(
  signal: AbortSignal,
  begin: (resolve: () => void) => () => void,
): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = begin(resolve);
  const onAbort = () => resolve();
  signal.addEventListener('abort', onAbort);
  await promise;
  signal.removeEventListener('abort', onAbort);
  end();
}
