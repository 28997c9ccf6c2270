import {
  type ClusterError,
  type ClusterErrorCode,
  describeError,
} from '../cluster/cluster-error.ts';
import type { ProblemListener } from '../cluster/source.ts';
import type { Clock } from '../time/clock.ts';

export interface Digest {
  readonly problem: ClusterError;
  /** One line, without `next`. */
  readonly text: string;
  /** Number of occurrences since the last report, including this one. */
  readonly count: number;
}

export const REPEAT_AFTER_MS = 60_000;

/** Problems of the connection that all kinds share: one report for all. */
const OF_THE_CONNECTION: ReadonlySet<ClusterErrorCode> = new Set<ClusterErrorCode>([
  'CLUSTER_UNREACHABLE',
  'CLUSTER_CONNECTION_LOST',
  'CLUSTER_TIMEOUT',
  'CLUSTER_STALLED',
  'CLUSTER_TLS',
  'CLUSTER_NO_HTTP2',
  'CLUSTER_PROXY',
]);

/**
 * Several watches report the same problem repeatedly. It is reported at once, then once a minute
 * with a count.
 */
export function problemDigest(
  clock: Pick<Clock, 'monotonicMs'>,
  tell: (digest: Digest) => void,
): ProblemListener {
  const known = new Map<string, { toldAtMs: number; untoldCount: number }>();
  return (problem) => {
    const reason = reasonOf(problem);
    const nowMs = clock.monotonicMs();
    const before = known.get(reason);
    if (before !== undefined && nowMs - before.toldAtMs < REPEAT_AFTER_MS) {
      before.untoldCount += 1;
      return;
    }
    for (const [each, { toldAtMs }] of known) {
      if (nowMs - toldAtMs >= REPEAT_AFTER_MS) known.delete(each);
    }
    known.set(reason, { toldAtMs: nowMs, untoldCount: 0 });
    tell({ problem, text: describeError(problem), count: (before?.untoldCount ?? 0) + 1 });
  };
}

function reasonOf({ code, message }: ClusterError): string {
  return OF_THE_CONNECTION.has(code) ? code : `${code} ${message}`;
}

const FOR_A_PERSON: ReadonlySet<ClusterErrorCode> = new Set<ClusterErrorCode>([
  'CLUSTER_TLS',
  'CLUSTER_NO_HTTP2',
  'CLUSTER_PROXY',
  'CREDENTIALS_UNREADABLE',
  'CREDENTIALS_PLUGIN',
]);
const HTTP_UNAUTHORIZED = 401;
const HTTP_FORBIDDEN = 403;

/** Whether a person has to fix it. */
export function needsPerson({ code, status }: ClusterError): boolean {
  return FOR_A_PERSON.has(code) || status === HTTP_UNAUTHORIZED || status === HTTP_FORBIDDEN;
}
