type Part = (signal: AbortSignal) => Promise<void>;

/** Runs all parts until each has ended. One that fails stops the others, and its error is passed on. */
export async function runTogether(parts: readonly Part[], signal: AbortSignal): Promise<void> {
  const stop = new AbortController();
  const onAbort = (): void => stop.abort(signal.reason);
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  const ends = await Promise.allSettled(
    parts.map(async (part) => {
      try {
        await part(stop.signal);
      } catch (error) {
        stop.abort(error);
        throw error;
      }
    }),
  );
  signal.removeEventListener('abort', onAbort);
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}
