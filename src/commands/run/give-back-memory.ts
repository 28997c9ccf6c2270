import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { giveBackFreed, mapLargeBlocks } from '../../linux/malloc.ts';
import type { Logger } from '../../log/logger.ts';
import type { Clock } from '../../time/clock.ts';

/** Call it before anything large is read. Never throws: a proxy that keeps its memory serves as well. */
export function giveBackLargeBlocks(log: Pick<Logger, 'debug'>): void {
  try {
    mapLargeBlocks();
  } catch (error) {
    log.debug(`freed buffers will stay in memory: ${String(error)}`);
  }
}

/** The rest of the start, such as the first scan of conntrack, is done by then. */
const AFTER_MS = 1_000;

/**
 * Returns memory that only the start needed; call it when the start is over. V8 would keep most of
 * it, because an idle proxy gives it no reason to collect. It is one GC pause while nothing waits to
 * be written: tens of milliseconds in a small cluster; at 50,000 Services on a busy machine 0.8 s, or
 * 1.4 s after a restart.
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
    log.debug(given, 'returned memory that only the start needed');
  } catch (error) {
    log.debug(`could not return memory of the start: ${String(error)}`);
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

/** A last-resort GC: only that returns empty pages and the young generation. */
function collect(): void {
  // Node exposes no such function; with the flag, a context created afterwards has `gc`.
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as Collect;
  gc({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
