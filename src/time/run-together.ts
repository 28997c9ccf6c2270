type Task = (signal: AbortSignal) => Promise<void>;

/** Runs all tasks until each has ended. When one fails it stops the others and rethrows its error. */
export async function runTogether(tasks: readonly Task[], signal: AbortSignal): Promise<void> {
  const stop = new AbortController();
  const onAbort = (): void => stop.abort(signal.reason);
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  const ends = await Promise.allSettled(
    tasks.map(async (task) => {
      try {
        await task(stop.signal);
      } catch (error) {
        stop.abort(error);
        throw error;
      }
    }),
  );
  signal.removeEventListener('abort', onAbort);
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}
