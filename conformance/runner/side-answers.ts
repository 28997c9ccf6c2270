import type { Destination } from '../../lab/host/sockets.ts';
import { httpGet } from '../../lab/servers/http-get.ts';

/** A SYN that leaves before the rule exists is lost: better a new one than to wait for it. */
const ATTEMPT_DEADLINE_MS = 400;

/** Whether a Service of the barrier leads to the pod of this side, asked from the node itself. */
export async function sideAnswers(
  namespace: string,
  to: Destination,
  side: number,
): Promise<boolean> {
  const request = { ...to, path: '/hostname', deadlineMs: ATTEMPT_DEADLINE_MS };
  // Rejected, lost, or cut off by the change: the proxy is not there yet, whatever it was.
  const answer = await httpGet({ namespace }, request).catch(() => undefined);
  return answer?.body === `side-${side}`;
}
