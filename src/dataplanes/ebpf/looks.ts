import { setTimeout as delay } from 'node:timers/promises';

/** Looks again and again until the signal is aborted. */
export async function lookEvery(
  everyMs: number,
  look: () => void,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await pause(everyMs, signal);
    if (!signal.aborted) look();
  }
}

export interface Pace {
  readonly everyMs: number;
  /** However much it costs. */
  readonly atLeastEveryMs: number;
  /** The part of a processor that looks should take at most. */
  readonly mostLooking: number;
}

/** The more a look costs, the longer is the rest before the next one. */
export async function lookSparingly(
  { everyMs, atLeastEveryMs, mostLooking }: Pace,
  look: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  let restMs = everyMs;
  while (!signal.aborted) {
    await pause(restMs, signal);
    if (signal.aborted) return;
    // On a busy machine a look takes long by the clock and little of the processor.
    const before = process.threadCpuUsage();
    await look();
    const { user, system } = process.threadCpuUsage(before);
    const tookMs = (user + system) / 1000;
    restMs = Math.min(Math.max(everyMs, tookMs / mostLooking), atLeastEveryMs);
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await delay(ms, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
