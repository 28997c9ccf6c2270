import { ClusterError } from '../../../cluster/errors.ts';
import { NetlinkError } from '../../../linux/netlink/errors.ts';
import { sleep } from '../../../time/sleep.ts';
import { apiServer } from './api-server.ts';
import type { Check, CheckContext, Finding } from './check.ts';
import { problem, skipped } from './check.ts';
import type { Checked } from './view.ts';

const SPEAK_AFTER_MS = 1_000;

/** Runs all at once, and reports those that still run after a second. */
export async function runChecks(
  checks: readonly Check[],
  context: CheckContext,
  onSlow: (names: readonly string[]) => void,
): Promise<readonly Checked[]> {
  const running = new Set(checks.map(({ name }) => name));
  const over = new AbortController();
  void sleep(SPEAK_AFTER_MS, over.signal).then(() => {
    if (!over.signal.aborted) onSlow([...running]);
  });
  try {
    return await Promise.all(
      checks.map(async (check) => {
        const finding = await runOne(check, context);
        running.delete(check.name);
        return { name: check.name, ...finding };
      }),
    );
  } finally {
    over.abort();
  }
}

/** What the API server does not answer is reported once, by the check that is about it. */
async function runOne(check: Check, context: CheckContext): Promise<Finding> {
  try {
    return await check.run(context);
  } catch (error) {
    if (context.signal.aborted) return skipped('not done within the deadline');
    if (error instanceof ClusterError) {
      if (check.name !== apiServer.name) return skipped('needs the API server');
      return problem(error.message, error.next);
    }
    if (error instanceof NetlinkError) return skipped(error.message);
    throw error;
  }
}
