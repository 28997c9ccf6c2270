import { sleep } from '../../time/sleep.ts';

export interface Polling {
  /** Before the first poll. */
  readonly firstRestMs: number;
  /** How long to rest after a poll of this cost. */
  readonly restMs: (costMs: number) => number;
  /** The clock that measures the cost: wall time, or the processor time of this thread. */
  readonly spentMs: () => number;
  /** Returns false if it could not poll, which predicts nothing about the cost of the next. */
  readonly poll: () => Promise<boolean>;
}

/** Polls until the signal is aborted, the more rarely the more a poll costs. */
export async function pollSparingly(polling: Polling, signal: AbortSignal): Promise<void> {
  let restMs = polling.firstRestMs;
  while (!signal.aborted) {
    await sleep(restMs, signal);
    if (signal.aborted) return;
    const before = polling.spentMs();
    const hasPolled = await polling.poll();
    if (hasPolled) restMs = polling.restMs(polling.spentMs() - before);
  }
}
