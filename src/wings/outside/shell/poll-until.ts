import { sleep } from '../../../time/sleep.ts';

export interface PollOptions {
  readonly everyMs: number;
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
}

/** What the first attempt gives that gives anything; undefined: too late, or aborted. */
export async function poll<T>(
  attempt: () => Promise<T | undefined>,
  { everyMs, deadlineMs, signal }: PollOptions,
): Promise<T | undefined> {
  const until = performance.now() + deadlineMs;
  while (!signal.aborted && performance.now() < until) {
    const found = await attempt();
    if (found !== undefined) return found;
    await sleep(everyMs, signal);
  }
  return undefined;
}
