import type { Kind } from '../cluster/object-kinds.ts';
import type { SourceHealth } from '../cluster/source.ts';
import type { Clock } from '../time/clock.ts';
import type { Condition, Conditions, FamilyCondition } from './conditions.ts';
import type { AgentSnapshot, FailingRow } from './snapshot.ts';

/** The date of a time on the monotonic clock, in whole milliseconds since 1970. */
export type DateOf = (atMs: number) => number;

/**
 * Dates by the current wall clock. A stored date would be wrong as soon as the clock is set; an age
 * never is, so a date is computed as now minus the age when it is shown.
 */
export function datesBy(clock: Pick<Clock, 'monotonicMs' | 'wallMs'>): DateOf {
  const aheadMs = clock.wallMs() - clock.monotonicMs();
  return (atMs) => Math.round(atMs + aheadMs);
}

export function datedConditions(conditions: Conditions, dateOf: DateOf): Conditions {
  const { connected, timely, ...others } = conditions;
  const dated = (condition: Condition): Condition => ({
    ...condition,
    sinceMs: dateOf(condition.sinceMs),
  });
  return {
    ...mapValues(others, dated),
    connected: mapValues<Kind, Condition>(connected, dated),
    timely: {
      IPv4: datedFamily(timely.IPv4, dateOf),
      IPv6: datedFamily(timely.IPv6, dateOf),
    },
  };
}

export function datedSnapshot(snapshot: AgentSnapshot, dateOf: DateOf): AgentSnapshot {
  const { conditions, failingRows, drifts, sources, lastInspection } = snapshot;
  return {
    ...snapshot,
    startedAtMs: dateOf(snapshot.startedAtMs),
    atMs: dateOf(snapshot.atMs),
    conditions: datedConditions(conditions, dateOf),
    failingRows: failingRows.map((row) => datedRow(row, dateOf)),
    drifts: drifts.map((drift) => ({ ...drift, atMs: dateOf(drift.atMs) })),
    sources: sources.map((source) => datedSource(source, dateOf)),
    ...(lastInspection === undefined
      ? {}
      : { lastInspection: { ...lastInspection, atMs: dateOf(lastInspection.atMs) } }),
  };
}

function datedFamily(condition: FamilyCondition, dateOf: DateOf): FamilyCondition {
  const { oldestPendingAtMs, lastSyncedAtMs } = condition;
  return {
    ...condition,
    sinceMs: dateOf(condition.sinceMs),
    ...(oldestPendingAtMs === undefined ? {} : { oldestPendingAtMs: dateOf(oldestPendingAtMs) }),
    ...(lastSyncedAtMs === undefined ? {} : { lastSyncedAtMs: dateOf(lastSyncedAtMs) }),
  };
}

function datedRow(row: FailingRow, dateOf: DateOf): FailingRow {
  return {
    ...row,
    firstFailedAtMs: dateOf(row.firstFailedAtMs),
    retryAtMs: dateOf(row.retryAtMs),
    error: { ...row.error, atMs: dateOf(row.error.atMs) },
  };
}

/** Never stays never. */
function datedSource(source: SourceHealth, dateOf: DateOf): SourceHealth {
  const { lastHeardAtMs } = source;
  return lastHeardAtMs === 0 ? source : { ...source, lastHeardAtMs: dateOf(lastHeardAtMs) };
}

function mapValues<K extends string, V>(
  record: Readonly<Record<K, V>>,
  map: (value: V) => V,
): Record<K, V> {
  const entries = Object.entries<V>(record).map(([key, value]) => [key, map(value)]);
  return Object.fromEntries(entries) as Record<K, V>;
}
