import type { Polling } from './polling.ts';

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
