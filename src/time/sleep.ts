/**
 * Resolves after the time or on abort, whichever is first. A timer of Node's own promises would make
 * an Error with its stack at each abort, and most waits of an agent end by one.
 */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  // A timer drops the fraction and would end just before the time that was asked for.
  const timer = setTimeout(resolve, Math.ceil(ms));
  const onAbort = (): void => resolve();
  signal.addEventListener('abort', onAbort);
  await promise;
  clearTimeout(timer);
  signal.removeEventListener('abort', onAbort);
}
