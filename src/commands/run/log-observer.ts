import type { AgentObserver } from '../../agent/observer.ts';
import type { Logger } from '../../log/logger.ts';

/** What the agent does not log itself: the first sync, and at debug level every step. */
export function logObserver(log: Logger): AgentObserver {
  return {
    onFirstSync: () =>
      log.info({ afterMs: Math.round(performance.now()) }, 'every Service is in the kernel'),
    onStep: ({ durationMs, transactionCount, acknowledgedCount, pendingCount }) =>
      log.debug({ durationMs, transactionCount, acknowledgedCount, pendingCount }, 'wrote'),
  };
}
