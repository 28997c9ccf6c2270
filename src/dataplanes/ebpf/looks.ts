import { sleep } from '../../time/sleep.ts';
import type { LookPace } from './look-pace.ts';

/**
 * The more a look costs, the longer is the rest before the next one. `look` gives false if it did not
 * look, which costs nothing and says nothing of the next.
 */
export async function lookSparingly(
  pace: LookPace,
  look: () => Promise<boolean>,
  signal: AbortSignal,
): Promise<void> {
  let restMs = pace.firstRestMs;
  while (!signal.aborted) {
    await sleep(restMs, signal);
    if (signal.aborted) return;
    // On a busy machine a look takes long by the clock and little of the processor.
    const before = process.threadCpuUsage();
    const hasLooked = await look();
    const { user, system } = process.threadCpuUsage(before);
    if (hasLooked) restMs = pace.restMs((user + system) / 1000);
  }
}
