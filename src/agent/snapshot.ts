import type { ServerReport } from '../cluster/server-report.ts';
import type { SourceHealth } from '../cluster/source.ts';
import type { AffinityFill } from '../dataplanes/contract.ts';
import type { NodeView, ServicePortKey } from '../forwarding/model.ts';
import type { AddressReport, NotServedAddress } from './address-watch.ts';
import type { Conditions } from './conditions.ts';
import type { SeenDrift } from './drift-log.ts';
import type { Failure } from './failure.ts';
import type { InspectionReport } from './observer.ts';
import type { RowFailure } from './outstanding-entry.ts';
import type { Pace } from './pace.ts';
import type { ScopeReport } from './scope-report.ts';

/** Everything that is known about the agent at one moment, as plain data. Times are milliseconds since 1970, by the wall clock as it is at `atMs`. */
export interface AgentSnapshot {
  readonly mode: string;
  readonly node: NodeView;
  /** Interfaces whose packets are served besides own sockets; undefined: all. */
  readonly clientInterfaces?: readonly string[];
  /** As configured; undefined: that of the Node object, which `node` has too. */
  readonly zone?: string;
  /** Undefined: all Services are read. */
  readonly scope?: ScopeReport;
  readonly startedAtMs: number;
  readonly atMs: number;
  readonly rows: RowCounts;
  /** Rows that the kernel rejected, the longest waiting first, at most twenty. */
  readonly failingRows: readonly FailingRow[];
  readonly failingRowCount: number;
  readonly pace: Pace;
  /** Undefined: the mode has no limit of its own, or it was not asked yet. */
  readonly affinityFill?: AffinityFill;
  /** Addresses that are not served, and node ports that a process holds. */
  readonly addresses: AddressReport;
  /** The first addresses that are not served, at most twenty. */
  readonly notServed: readonly NotServedAddress[];
  readonly conditions: Conditions;
  readonly lastInspection?: InspectionReport;
  /** The last ten, the newest last. */
  readonly drifts: readonly SeenDrift[];
  readonly driftCount: number;
  readonly propagation: PropagationSummary;
  readonly sources: readonly SourceHealth[];
  /** Undefined: objects come from manifests. */
  readonly apiServer?: ServerReport;
}

export interface RowCounts {
  readonly desired: number;
  /** The desired rows that the kernel has as desired. */
  readonly applied: number;
  /** Rows to be written or removed. */
  readonly pending: number;
}

export interface FailingRow {
  readonly key: ServicePortKey;
  readonly attempts: number;
  readonly firstFailedAtMs: number;
  readonly retryAtMs: number;
  readonly error: Failure;
}

/** Over the last thousand changes at most. */
export interface PropagationSummary {
  /** From our receipt to the acknowledgement of the kernel. */
  readonly received: Quantiles;
  /** From the trigger that the controllers noted. */
  readonly triggered: Quantiles;
}

export interface Quantiles {
  readonly count: number;
  readonly p50Ms: number;
  readonly p90Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

export function failingRow(row: RowFailure & { readonly key: ServicePortKey }): FailingRow {
  const { key, attempts, firstAtMs, retryAtMs, last } = row;
  return { key, attempts, firstFailedAtMs: firstAtMs, retryAtMs, error: last };
}
