import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  condition,
  conditionsWith,
  familyCondition,
  snapshotWith,
} from '../servers/testing/example-conditions.ts';
import type { AgentSnapshot } from '../snapshot.ts';
import {
  acknowledged,
  bucketsOf,
  inspected,
  metricsOf,
  sampleOf,
  step,
  tell,
} from './testing/told-metrics.ts';

describe('fairlead_* metrics', () => {
  it('measure propagation latency', async () => {
    const metrics = metricsOf();
    tell(metrics, 'onAcknowledged', acknowledged({ totalMs: 0.4 }));
    const text = await metrics.render();
    const buckets = bucketsOf(text, 'fairlead_propagation_seconds');
    assert.deepEqual([buckets[0], buckets.at(-2), buckets.at(-1)], ['0.0001', '10', '+Inf']);
    assert.equal(sampleOf(text, 'fairlead_propagation_seconds_bucket{le="0.0003"}'), 0);
    assert.equal(sampleOf(text, 'fairlead_propagation_seconds_bucket{le="0.0005"}'), 1);
  });

  it('count pending rows and their age', async () => {
    const timely = { IPv4: familyCondition({ oldestPendingAtMs: 7_500 }), IPv6: condition() };
    const bad = condition(false);
    const connected = { ...conditionsWith().connected, slice: bad };
    const snapshot = snapshotWith({
      atMs: 10_000,
      rows: { desired: 5, applied: 3, pending: 2 },
      failingRowCount: 1,
      pace: { rows: [], rowCount: 2, namespaces: [], namespaceCount: 0, longestWaitMs: 250 },
      driftCount: 4,
      conditions: conditionsWith({ timely, synced: bad, connected }),
      sources: [{ kind: 'service', connected: true, lastHeardAtMs: 0, skippedCount: 6 }],
    });
    const metrics = metricsOf({ snapshot: () => snapshot });
    await metrics.render();
    const text = await metrics.render();
    for (const [series, value] of [
      ['desired_rows', 5],
      ['applied_rows', 3],
      ['pending_rows', 2],
      ['failing_rows', 1],
      ['rows_in_parts', 2],
      ['longest_queue_wait_seconds', 0.25],
      ['drifts_total', 4],
      ['oldest_pending_seconds{ip_family="IPv4"}', 2.5],
      ['oldest_pending_seconds{ip_family="IPv6"}', 0],
      ['api_connected{kind="service"}', 1],
      ['api_connected{kind="slice"}', 0],
      ['skipped_objects_total{kind="service"}', 6],
      ['condition{condition="synced"}', 0],
      ['condition{condition="timely.IPv4"}', 1],
      ['build_info{version="0.1.0",mode="nftables"}', 1],
    ] as const) {
      assert.equal(sampleOf(text, `fairlead_${series}`), value, series);
    }
  });

  it('count external changes, but not differences found at the start', async () => {
    const metrics = metricsOf();
    tell(metrics, 'onInspected', inspected({ differenceCount: 9 }));
    tell(metrics, 'onInspected', inspected({ reason: 'drift', differenceCount: 2 }));
    tell(metrics, 'onInspectionFailed', {});
    metrics.onProbe('readyz', 503);
    const text = await metrics.render();
    assert.equal(sampleOf(text, 'fairlead_repaired_differences_total'), 2);
    assert.equal(sampleOf(text, 'fairlead_inspections_total{reason="drift"}'), 1);
    assert.equal(sampleOf(text, 'fairlead_inspection_failures_total'), 1);
    assert.equal(sampleOf(text, 'fairlead_readyz_total{code="503"}'), 1);
  });

  it('include process metrics', async () => {
    const text = await metricsOf().render();
    assert.ok((sampleOf(text, 'process_cpu_seconds_total') ?? 0) > 0);
    assert.ok((sampleOf(text, 'process_resident_memory_bytes') ?? 0) > 1e6);
    assert.ok((sampleOf(text, 'process_open_fds') ?? 0) > 2);
    const startedSeconds = sampleOf(text, 'process_start_time_seconds') ?? 0;
    assert.ok(Math.abs(startedSeconds - (Date.now() / 1000 - process.uptime())) < 5);
  });

  it('show the same start of the process at every scrape, so that a change is a restart', async () => {
    const metrics = metricsOf();
    const shown = new Set<number | undefined>();
    for (let scrape = 0; scrape < 20; scrape++) {
      shown.add(sampleOf(await metrics.render(), 'process_start_time_seconds'));
    }
    assert.equal(shown.size, 1);
  });

  it('show how full conntrack is, and nothing where the kernel does not say', async () => {
    const text = await metricsOf({ conntrack: () => ({ entries: 7, limit: 9 }) }).render();
    assert.equal(sampleOf(text, 'fairlead_conntrack_entries'), 7);
    assert.equal(sampleOf(text, 'fairlead_conntrack_entries_limit'), 9);
    const without = await metricsOf({ conntrack: () => undefined }).render();
    assert.equal(sampleOf(without, 'fairlead_conntrack_entries'), undefined);
  });

  it('take one snapshot per scrape', async () => {
    let count = 0;
    const snapshot = (): AgentSnapshot => {
      count++;
      return snapshotWith();
    };
    const metrics = metricsOf({ snapshot });
    tell(metrics, 'onStep', step(1));
    assert.equal(count, 0);
    await metrics.render();
    assert.equal(count, 1);
  });
});
