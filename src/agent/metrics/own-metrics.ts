import type { Kind } from '../../cluster/object-kinds.ts';
import type { ServerFeature } from '../../cluster/server-report.ts';
import { FAMILIES } from '../../forwarding/model.ts';
import { NOT_SERVED_REASONS } from '../../forwarding/not-served.ts';
import type { Condition, Conditions } from '../conditions.ts';
import type { MetricSet } from '../metrics.ts';
import type {
  Acknowledged,
  AgentObserver,
  InspectionReport,
  StepFailure,
  StepReport,
} from '../observer.ts';
import type { AgentSnapshot } from '../snapshot.ts';
import { PROPAGATION_SECONDS } from './buckets.ts';

const MS = 1000;
const FEATURES: readonly ServerFeature[] = ['ServiceCIDR', 'namespace labels', 'streaming lists'];

/** Metrics that kube-proxy does not have: propagation latency, pending work, external changes. */
export class OwnMetrics implements AgentObserver {
  readonly #metrics: ReturnType<typeof define>;

  constructor(set: MetricSet) {
    this.#metrics = define(set);
  }

  onAcknowledged({ propagations }: Acknowledged): void {
    for (const { totalMs } of propagations) this.#metrics.propagation.observe(totalMs / MS);
  }

  onStep({ transactionCount }: StepReport): void {
    this.#metrics.transactions.add(transactionCount);
  }

  onPart(): void {
    this.#metrics.parts.add(1);
  }

  onStepFailed({ scope }: StepFailure): void {
    this.#metrics.writeFailures.add(1, scope);
  }

  onInspected({ reason, durationMs, differenceCount }: InspectionReport): void {
    this.#metrics.inspections.add(1, reason);
    this.#metrics.inspection.observe(durationMs / MS);
    // Differences found by the first inspection are leftovers of the previous process, not external
    // changes.
    if (reason !== 'start') this.#metrics.repaired.add(differenceCount);
  }

  onInspectionFailed(): void {
    this.#metrics.inspectionFailures.add(1);
  }

  onReadyz(status: number): void {
    this.#metrics.readyz.add(1, String(status));
  }

  take(snapshot: AgentSnapshot): void {
    const { rows, failingRowCount, pace, affinityFill, conditions, driftCount, sources, atMs } =
      snapshot;
    const metrics = this.#metrics;
    metrics.desiredRows.set(rows.desired);
    metrics.appliedRows.set(rows.applied);
    metrics.pendingRows.set(rows.pending);
    metrics.failingRows.set(failingRowCount);
    metrics.rowsInParts.set(pace.rowCount);
    metrics.longestWait.set(pace.longestWaitMs / MS);
    if (affinityFill) {
      metrics.affinityClients.set(affinityFill.remembered);
      metrics.affinityRoom.set(affinityFill.room);
      metrics.affinityFull.set(affinityFill.full.length);
    }
    for (const reason of NOT_SERVED_REASONS) {
      metrics.notServed.set(snapshot.addresses.notServed[reason], reason);
    }
    metrics.nodePortsHeld.set(snapshot.addresses.conflicts.length);
    metrics.drifts.replace(driftCount);
    for (const family of FAMILIES) {
      const { oldestPendingAtMs = atMs } = conditions.timely[family];
      metrics.oldestPending.set(Math.max(0, atMs - oldestPendingAtMs) / MS, family);
    }
    for (const kind of kindsOf(conditions)) {
      metrics.connected.set(conditions.connected[kind].isTrue ? 1 : 0, kind);
    }
    const lacking = new Set(snapshot.apiServer?.gaps.map(({ feature }) => feature));
    for (const feature of FEATURES) {
      metrics.apiServerMissing.set(lacking.has(feature) ? 1 : 0, feature);
    }
    for (const { kind, skippedCount } of sources) metrics.skipped.replace(skippedCount, kind);
    for (const [name, { isTrue }] of named(conditions)) {
      metrics.conditions.set(isTrue ? 1 : 0, name);
    }
  }
}

function kindsOf({ connected }: Conditions): Kind[] {
  return (Object.keys(connected) as Kind[]).sort();
}

/** Conditions by name; `connected` has a metric of its own. */
function named(conditions: Conditions): [string, Condition][] {
  const { connected: _, timely, ...single } = conditions;
  const byFamily = FAMILIES.map((family): [string, Condition] => {
    return [`timely.${family}`, timely[family]];
  });
  return [...Object.entries(single), ...byFamily].sort(([a], [b]) => (a < b ? -1 : 1));
}

function define(set: MetricSet) {
  const counter = (name: string, help: string, labels: readonly string[] = []) =>
    set.counter({ name: `fairlead_${name}`, help, labels });
  const gauge = (name: string, help: string, labels: readonly string[] = []) =>
    set.gauge({ name: `fairlead_${name}`, help, labels });
  const writeFailures = counter(
    'write_failures_total',
    'Failed writes to the kernel, by scope: one row or the whole data plane',
    ['scope'],
  );
  for (const scope of ['row', 'plane']) writeFailures.add(0, scope);
  return {
    writeFailures,
    propagation: set.histogram({
      name: 'fairlead_propagation_seconds',
      help: 'Time from receiving a change to its acknowledgement by the kernel',
      buckets: PROPAGATION_SECONDS,
    }),
    inspection: set.histogram({
      name: 'fairlead_inspection_seconds',
      help: 'Duration of comparing the kernel with the desired state',
      buckets: PROPAGATION_SECONDS,
    }),
    transactions: counter('transactions_total', 'Transactions attempted'),
    parts: counter('parts_total', 'Partial writes of rows that are too large for one transaction'),
    rowsInParts: gauge('rows_in_parts', 'Service ports being written in parts'),
    longestWait: gauge(
      'longest_queue_wait_seconds',
      'Longest time that a namespace has been waiting to be written',
    ),
    affinityClients: gauge('affinity_clients', 'Session affinity entries in use'),
    affinityRoom: gauge('affinity_clients_room', 'Session affinity entries available in total'),
    affinityFull: gauge(
      'affinity_services_full',
      'Service ports whose new clients get no session affinity because their limit is reached',
    ),
    notServed: gauge('addresses_not_served', 'Service addresses that are not served, by reason', [
      'reason',
    ]),
    nodePortsHeld: gauge(
      'node_ports_held',
      'Node ports that a process on this node listens on as well',
    ),
    inspections: counter('inspections_total', 'Comparisons of the kernel with the desired state', [
      'reason',
    ]),
    inspectionFailures: counter(
      'inspection_failures_total',
      'Failed comparisons of the kernel with the desired state',
    ),
    drifts: counter('drifts_total', 'Changes to kernel objects of Fairlead by other processes'),
    repaired: counter(
      'repaired_differences_total',
      'Kernel objects that differed from the desired state and were repaired',
    ),
    readyz: counter('readyz_total', 'Responses of /readyz, by status code', ['code']),
    desiredRows: gauge('desired_rows', 'Service ports that should be in the kernel'),
    appliedRows: gauge('applied_rows', 'Service ports that are in the kernel as desired'),
    pendingRows: gauge('pending_rows', 'Service ports waiting to be written or removed'),
    failingRows: gauge('failing_rows', 'Service ports whose last write failed'),
    oldestPending: gauge(
      'oldest_pending_seconds',
      'Age of the oldest change that is not written yet',
      ['ip_family'],
    ),
    connected: gauge('api_connected', '1 if the watch of this kind is established', ['kind']),
    apiServerMissing: gauge(
      'api_server_missing',
      '1 if the API server does not serve or does not allow this optional feature',
      ['feature'],
    ),
    skipped: counter(
      'skipped_objects_total',
      'API objects ignored because they could not be read',
      ['kind'],
    ),
    conditions: gauge('condition', '1 if the condition is true; true is the healthy state', [
      'condition',
    ]),
  };
}
