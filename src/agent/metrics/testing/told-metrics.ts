import type { AgentObserver } from '../../observer.ts';
import { snapshotWith } from '../../servers/testing/example-conditions.ts';
import { AgentMetrics, type AgentMetricsOptions } from '../agent-metrics.ts';

export const STARTED_AT_MS = 1_000_000;

export function metricsOf(more: Partial<AgentMetricsOptions> = {}): AgentMetrics {
  return new AgentMetrics({
    mode: 'nftables',
    failureNames: {
      writes: 'nftables_sync_failures_total',
      cleanups: 'nftables_cleanup_failures_total',
    },
    version: '0.1.0',
    clock: { monotonicMs: () => 0, wallMs: () => 0 },
    startedAtMs: STARTED_AT_MS,
    snapshot: () => snapshotWith(),
    ...more,
  });
}

/** Calls a method of all observers that have it, as the agent does. */
export function tell<K extends keyof AgentObserver>(
  { observers }: AgentMetrics,
  method: K,
  what: unknown,
): void {
  for (const observer of observers) {
    const call = observer[method] as ((this: AgentObserver, what: unknown) => void) | undefined;
    call?.call(observer, what);
  }
}

export function sampleOf(text: string, series: string): number | undefined {
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

export function bucketsOf(text: string, name: string): string[] {
  const found = text.matchAll(new RegExp(`^${name}_bucket\\{.*?le="([^"]+)".*\\} `, 'gm'));
  return [...new Set([...found].map(([, le]) => le ?? ''))];
}

export function step(durationMs: number, pendingCount = 0) {
  const families = ['IPv4', 'IPv6'];
  return {
    startedAtMs: 0,
    durationMs,
    transactionCount: 2,
    acknowledgedCount: 2,
    families,
    pendingCount,
  };
}

export function acknowledged(
  more: { sinceTriggeredMs?: number[]; totalMs?: number },
  atMs = 2_000_000,
) {
  const { sinceTriggeredMs = [], totalMs = 1 } = more;
  const propagation = {
    service: 'a/b',
    families: ['IPv4'],
    resolveMs: 0,
    totalMs,
    sinceTriggeredMs,
  };
  return { changes: [], atMs, durationMs: 1, propagations: [propagation] };
}

export function inspected(more: object) {
  const counts = { rowCount: 1, wrongCount: 0, writeCount: 0, differenceCount: 0, differences: [] };
  return { depth: 'everything', reason: 'start', atMs: 0, durationMs: 20, ...counts, ...more };
}
