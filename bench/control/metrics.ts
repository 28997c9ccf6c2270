import { LabError } from '../../lab/host/errors.ts';
import { until } from '../../lab/host/until.ts';
import { METRICS_PORT } from '../../lab/proxies/kube-proxy-configuration.ts';
import { httpGet } from '../../lab/servers/http-get.ts';

const SYNC = 'kubeproxy_sync_proxy_rules';
const FAMILY = '{ip_family="IPv4"}';
/** A proxy that is busy with a sync may be late to answer. */
const ANSWER_DEADLINE_MS = 20_000;
const SYNC_DEADLINE_MS = 60_000;

/** What a proxy says of its last change. Times are milliseconds since 1970. */
export interface SyncMetrics {
  readonly queuedAtMs: number;
  readonly syncedAtMs: number;
  /** Sum over all syncs since its start. */
  readonly syncSumMs: number;
  /** Fairlead's own, exact: from receipt to acknowledgement, of all changes since its start. */
  readonly propagationSumMs: number | undefined;
}

/** Polls until everything received is in the kernel. */
export async function settledMetrics(nodePath: string, signal: AbortSignal): Promise<SyncMetrics> {
  return await until(
    async () => {
      const metrics = await readMetrics(nodePath);
      return metrics.syncedAtMs >= metrics.queuedAtMs ? metrics : undefined;
    },
    { what: 'the proxy to have synced', deadlineMs: SYNC_DEADLINE_MS, everyMs: 20, signal },
  );
}

async function readMetrics(namespace: string): Promise<SyncMetrics> {
  const to = { address: '127.0.0.1', port: METRICS_PORT, path: '/metrics' };
  const { body } = await httpGet({ namespace }, { ...to, deadlineMs: ANSWER_DEADLINE_MS });
  const lines = body.split('\n');
  const propagation = find(lines, 'fairlead_propagation_seconds_sum');
  return {
    queuedAtMs: seconds(lines, `${SYNC}_last_queued_timestamp_seconds${FAMILY}`),
    syncedAtMs: seconds(lines, `${SYNC}_last_timestamp_seconds${FAMILY}`),
    syncSumMs: seconds(lines, `${SYNC}_duration_seconds_sum${FAMILY}`),
    propagationSumMs: propagation === undefined ? undefined : propagation * 1_000,
  };
}

function seconds(lines: readonly string[], name: string): number {
  const value = find(lines, name);
  if (value !== undefined) return value * 1_000;
  throw new LabError('LAB_USAGE', `the proxy has no metric ${name}`, {
    next: 'measure without the stages, or use the current name of the metric',
  });
}

function find(lines: readonly string[], name: string): number | undefined {
  const line = lines.find((each) => each.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.slice(name.length + 1));
}
