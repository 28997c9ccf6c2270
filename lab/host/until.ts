import { setTimeout as delay } from 'node:timers/promises';
import { LabError } from './errors.ts';
import { abortable } from './interruption.ts';

export interface UntilOptions {
  /** Completes the sentence "timed out waiting for …"; a function can tell how far it came. */
  readonly what: string | (() => string);
  readonly deadlineMs: number;
  readonly everyMs?: number;
  readonly signal?: AbortSignal | undefined;
}

const DEFAULT_INTERVAL_MS = 50;

/**
 * Asks again until the answer is neither false nor undefined. Waits for a condition, never for a
 * time: the interval is only that of the polls.
 */
export async function until<T>(
  ask: () => T | undefined | false | Promise<T | undefined | false>,
  options: UntilOptions,
): Promise<T> {
  const giveUpAt = performance.now() + options.deadlineMs;
  for (;;) {
    options.signal?.throwIfAborted();
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() >= giveUpAt) {
      throw new LabError(
        'LAB_DEADLINE',
        `timed out waiting for ${typeof options.what === 'string' ? options.what : options.what()} after ${options.deadlineMs} ms`,
        { next: 'read the logs of the lab (`npm run lab -- status` names the folder)' },
      );
    }
    await abortable(delay(options.everyMs ?? DEFAULT_INTERVAL_MS), options.signal);
  }
}
