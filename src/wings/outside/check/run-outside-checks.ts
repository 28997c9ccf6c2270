import { ClusterError } from '../../../cluster/cluster-error.ts';
import { type BasicFinding, problem } from '../../../doctor/basic-finding.ts';
import { runChecks } from '../../../doctor/run-checks.ts';
import { NetlinkError } from '../../../linux/netlink/netlink-error.ts';
import { apiServer } from './api-server.ts';
import type { CheckedFinding } from './check-view.ts';
import { type CheckContext, type OutsideCheck, skipped } from './outside-check.ts';

const NOT_DONE = skipped('not done within the deadline');

/** What the API server does not answer is reported once, by the check that is about it. */
export async function runOutsideChecks(
  checks: readonly OutsideCheck[],
  context: CheckContext,
  how: { readonly deadlineMs: number; readonly onSlow: (names: readonly string[]) => void },
): Promise<readonly CheckedFinding[]> {
  const failed = (name: string, error: unknown): BasicFinding => {
    if (context.signal.aborted) return NOT_DONE;
    if (error instanceof ClusterError) {
      if (name !== apiServer.name) return skipped('needs the API server');
      return problem(error.message, error.next);
    }
    if (error instanceof NetlinkError) return skipped(error.message);
    throw error;
  };
  return await runChecks(checks, context, { ...how, late: () => NOT_DONE, failed });
}
