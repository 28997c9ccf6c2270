import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Logger } from 'pino';
import { giveBackFreed } from '../../linux/malloc.ts';
import type { Clock } from '../../time/clock.ts';

/** What else is done at the end of a start, such as a look at connection tracking, is over by then. */
const AFTER_MS = 1_000;

/**
 * Gives back what a start needed and nothing needs any more; call it when the start is over. V8
 * would keep most of it, because a proxy at rest gives it no reason to collect. It holds up everything
 * else once, when nothing waits to be written: some tens of milliseconds in a small cluster, and at
 * 50,000 Services on a crowded machine 0.8 s, or 1.4 s after a restart.
 * docs/decisions/0020-what-a-start-leaves.md
 *
 * Never rejects: a proxy that keeps its memory serves as well.
 */
export async function giveBackMemory(
  { clock, log }: { readonly clock: Clock; readonly log: Pick<Logger, 'debug'> },
  signal: AbortSignal,
): Promise<void> {
  await clock.sleep(AFTER_MS, signal);
  if (signal.aborted) return;
  try {
    const given = giveBack();
    log.debug(given, 'gave back what the start has left');
  } catch (error) {
    log.debug(`what the start has left stays: ${String(error)}`);
  }
}

function giveBack(): { beforeBytes: number; afterBytes: number; durationMs: number } {
  const beforeBytes = process.memoryUsage.rss();
  const begunMs = performance.now();
  collect();
  giveBackFreed();
  const durationMs = performance.now() - begunMs;
  return { beforeBytes, afterBytes: process.memoryUsage.rss(), durationMs };
}

type Collect = (how: { type: 'major'; execution: 'sync'; flavor: 'last-resort' }) => void;

/** As if memory were running out, which is when V8 gives back its empty pages and its nursery. */
function collect(): void {
  // Node has no function for it. With the flag, a context that is made afterwards has one.
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as Collect;
  gc({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
