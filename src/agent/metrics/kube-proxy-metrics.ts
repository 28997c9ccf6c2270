import { FAMILIES, type Family } from '../../forwarding/model.ts';
import type { Clock } from '../../time/clock.ts';
import { datesBy } from '../dates.ts';
import type { MetricSet } from '../metrics.ts';
import type { NoLocalCount } from '../no-local.ts';
import type {
  Acknowledged,
  AgentObserver,
  InspectionReport,
  Received,
  StepFailure,
  StepReport,
} from '../observer.ts';
import type { AgentSnapshot } from '../snapshot.ts';
import { NETWORK_PROGRAMMING_SECONDS, SYNC_SECONDS } from './buckets.ts';

export interface KubeProxyMetricsOptions {
  readonly set: MetricSet;
  /** Undefined: the mode has none. */
  readonly failureNames?: FailureNames | undefined;
  readonly clock: Pick<Clock, 'monotonicMs' | 'wallMs'>;
  /** Earlier triggers are ignored: this process was not running to act on them. */
  readonly startedAtMs: number;
  /** Asked for once for each scrape. */
  readonly noLocal?: () => readonly NoLocalCount[];
}

/** One conntrack reconciliation. */
export interface FlowsReconciled {
  readonly family: Family;
  readonly durationMs: number;
  readonly deletedCount: number;
}

const BY_FAMILY = ['ip_family'] as const;

/** The metrics of kube-proxy that have a meaning here, with its names, labels and buckets. */
export class KubeProxyMetrics implements AgentObserver {
  readonly #options: KubeProxyMetricsOptions;
  readonly #metrics: ReturnType<typeof define>;
  #pending = { service: 0, slice: 0 };
  #lastQueuedAtMs: number | undefined;

  constructor(options: KubeProxyMetricsOptions) {
    this.#options = options;
    this.#metrics = define(options);
  }

  onReceived({ kind, atMs }: Received): void {
    if (kind !== 'service' && kind !== 'slice') return;
    this.#pending[kind]++;
    this.#metrics.changes[kind].add(1);
    this.#lastQueuedAtMs = atMs;
  }

  onAcknowledged({ propagations, atMs }: Acknowledged): void {
    for (const { families, sinceTriggeredMs } of propagations) {
      for (const sinceMs of sinceTriggeredMs) {
        if (atMs - sinceMs < this.#options.startedAtMs) continue;
        for (const family of families) {
          this.#metrics.networkProgramming.observe(sinceMs / 1000, family);
        }
      }
    }
  }

  onStep({ durationMs, families, pendingCount }: StepReport): void {
    for (const family of families) {
      this.#metrics.sync.observe(durationMs / 1000, family);
      this.#metrics.partialSync.observe(durationMs / 1000, family);
    }
    if (pendingCount === 0) this.#pending = { service: 0, slice: 0 };
  }

  /** The one step of ours that covers everything, in both families. */
  onInspected({ depth, durationMs }: InspectionReport): void {
    if (depth !== 'everything') return;
    for (const family of FAMILIES) this.#metrics.fullSync.observe(durationMs / 1000, family);
  }

  onStepFailed({ families }: StepFailure): void {
    for (const family of families) {
      this.#metrics.failures?.writes.add(1, family);
      this.#metrics.failures?.partialWrites?.add(1, family);
    }
  }

  onInspectionFailed(): void {
    for (const family of FAMILIES) {
      this.#metrics.failures?.writes.add(1, family);
      this.#metrics.failures?.cleanups?.add(1, family);
    }
  }

  /** Rules that another mode, or kube-proxy, has left could not be deleted. */
  onCleanupFailed(): void {
    for (const family of FAMILIES) this.#metrics.failures?.cleanups?.add(1, family);
  }

  onFlowsReconciled({ family, durationMs, deletedCount }: FlowsReconciled): void {
    this.#metrics.flowsSync.observe(durationMs / 1000, family);
    this.#metrics.flowsDeleted.add(deletedCount, family);
  }

  onProbe(probe: 'healthz' | 'livez', status: number): void {
    this.#metrics.probes[probe].add(1, String(status));
  }

  /** Updates the values that are only computed on a scrape. */
  take({ rows, conditions }: AgentSnapshot): void {
    // An event that changes no row is settled without a step.
    if (rows.pending === 0) this.#pending = { service: 0, slice: 0 };
    this.#metrics.pending.service.set(this.#pending.service);
    this.#metrics.pending.slice.set(this.#pending.slice);
    const dateOf = datesBy(this.#options.clock);
    for (const family of FAMILIES) {
      const { lastSyncedAtMs } = conditions.timely[family];
      if (lastSyncedAtMs !== undefined) this.#metrics.lastSync.set(lastSyncedAtMs / 1000, family);
      if (this.#lastQueuedAtMs !== undefined) {
        this.#metrics.lastQueued.set(dateOf(this.#lastQueuedAtMs) / 1000, family);
      }
    }
    for (const { family, policy, count } of this.#options.noLocal?.() ?? []) {
      this.#metrics.noLocal.set(count, policy, family);
    }
  }
}

function define({ set, failureNames }: KubeProxyMetricsOptions) {
  const timer = (name: string, help: string, buckets = SYNC_SECONDS) =>
    set.histogram({ name: `kubeproxy_${name}`, help, labels: BY_FAMILY, buckets });
  const counter = (name: string, help: string, labels: readonly string[] = []) =>
    set.counter({ name: `kubeproxy_${name}`, help, labels });
  const gauge = (name: string, help: string, labels: readonly string[] = []) =>
    set.gauge({ name: `kubeproxy_${name}`, help, labels });
  const rules = 'sync_proxy_rules';
  const failures = failureNames && defineFailures(set, failureNames);
  const flowsDeleted = counter(
    'conntrack_reconciler_deleted_entries_total',
    'Cumulative conntrack flows deleted',
    BY_FAMILY,
  );
  for (const family of FAMILIES) flowsDeleted.add(0, family);
  return {
    failures,
    flowsDeleted,
    flowsSync: timer(
      'conntrack_reconciler_sync_duration_seconds',
      'Duration of one scan of conntrack',
    ),
    sync: timer(`${rules}_duration_seconds`, 'Duration of writing all pending changes'),
    fullSync: timer('sync_full_proxy_rules_duration_seconds', 'Duration of inspecting all rules'),
    partialSync: timer('sync_partial_proxy_rules_duration_seconds', 'Duration of writing changes'),
    networkProgramming: timer(
      'network_programming_duration_seconds',
      'Time from the trigger in the cluster to the acknowledgement by the kernel',
      NETWORK_PROGRAMMING_SECONDS,
    ),
    lastSync: gauge(`${rules}_last_timestamp_seconds`, 'Time of the last complete sync', BY_FAMILY),
    lastQueued: gauge(
      `${rules}_last_queued_timestamp_seconds`,
      'Time of the last received change',
      BY_FAMILY,
    ),
    changes: {
      service: counter(`${rules}_service_changes_total`, 'Cumulative changes of Services'),
      slice: counter(`${rules}_endpoint_changes_total`, 'Cumulative changes of EndpointSlices'),
    },
    pending: {
      service: gauge(`${rules}_service_changes_pending`, 'Pending changes of Services'),
      slice: gauge(`${rules}_endpoint_changes_pending`, 'Pending changes of EndpointSlices'),
    },
    noLocal: gauge(
      `${rules}_no_local_endpoints_total`,
      'Service ports with a Local traffic policy and without local endpoints',
      ['traffic_policy', 'ip_family'],
    ),
    probes: {
      healthz: counter('proxy_healthz_total', 'Cumulative responses of /healthz', ['code']),
      livez: counter('proxy_livez_total', 'Cumulative responses of /livez', ['code']),
    },
  };
}

function defineFailures(set: MetricSet, names: FailureNames) {
  const counter = (name: string, help: string) => {
    const labels = BY_FAMILY;
    const failures = set.counter({ name: `kubeproxy_sync_proxy_rules_${name}`, help, labels });
    for (const family of FAMILIES) failures.add(0, family);
    return failures;
  };
  const optional = (name: string | undefined, help: string) =>
    name === undefined ? undefined : counter(name, help);
  return {
    writes: counter(names.writes, 'Cumulative failed writes'),
    partialWrites: optional(names.partialWrites, 'Cumulative failed writes of changes'),
    cleanups: optional(names.cleanups, 'Cumulative failed deletions of leftovers'),
  };
}

/** Names, behind `kubeproxy_sync_proxy_rules_`, that kube-proxy has for failures in a mode. */
export interface FailureNames {
  readonly writes: string;
  /** For changes only, not for full syncs. */
  readonly partialWrites?: string;
  /** For inspections, which delete what belongs to no row. */
  readonly cleanups?: string;
}
