import { setTimeout as delay } from 'node:timers/promises';

/** Resolves after the time or on abort, whichever is first. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  try {
    // A timer drops the fraction and would end just before the time that was asked for.
    await delay(Math.ceil(ms), undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
