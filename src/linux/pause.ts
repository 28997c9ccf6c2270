import { setTimeout as delay } from 'node:timers/promises';

/** Resolves after some time or on abort, whichever is first. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await delay(ms, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
