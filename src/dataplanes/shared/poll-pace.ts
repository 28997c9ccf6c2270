import { sleep } from '../../time/sleep.ts';

/** Polls take at most about this part of a processor. */
const MOST_POLLING = 1 / 100;
const REMEMBERED = 8;

/** A poll that rests by this pace. */
export function pollingBy(
  times: { readonly everyMs: number; readonly atLeastEveryMs: number },
  poll: () => Promise<boolean>,
): Polling {
  const pace = new PollPace(times);
  const restMs = (costMs: number): number => pace.restMs(costMs);
  return { firstRestMs: pace.firstRestMs, restMs, spentMs: threadCpuMs, poll };
}

/** On a busy machine a poll takes long by the clock and little of the processor. */
function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** How long to rest between two polls, which cost the more the more there is to read. */
export class PollPace {
  readonly #everyMs: number;
  readonly #atLeastEveryMs: number;
  #recentMs: readonly number[] = [];

  /** `atLeastEveryMs`: whatever a poll costs. */
  constructor(times: { readonly everyMs: number; readonly atLeastEveryMs: number }) {
    this.#everyMs = times.everyMs;
    this.#atLeastEveryMs = times.atLeastEveryMs;
  }

  /**
   * `tookMs`: processor time. The minimum of the last polls counts: other work ran during some of
   * them.
   */
  restMs(tookMs: number): number {
    this.#recentMs = [...this.#recentMs, tookMs].slice(-REMEMBERED);
    const costMs = Math.min(...this.#recentMs);
    return Math.min(Math.max(this.#everyMs, costMs / MOST_POLLING), this.#atLeastEveryMs);
  }

  /** Before the first. */
  get firstRestMs(): number {
    return this.#everyMs;
  }
}

interface Polling {
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
