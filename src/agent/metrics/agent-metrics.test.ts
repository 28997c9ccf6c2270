import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
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
  STARTED_AT_MS,
  sampleOf,
  step,
  tell,
} from './testing/told-metrics.ts';

describe('kube-proxy metrics', () => {
  it('have its buckets', async () => {
    const metrics = metricsOf();
    tell(metrics, 'onStep', step(5));
    tell(metrics, 'onAcknowledged', acknowledged({ sinceTriggeredMs: [1200] }));
    const text = await metrics.render();
    assert.deepEqual(
      bucketsOf(text, 'kubeproxy_sync_proxy_rules_duration_seconds'),
      (
        '0.001 0.002 0.004 0.008 0.016 0.032 0.064 0.128 0.256 0.512 1.024 2.048 4.096 8.192 16.384 ' +
        '+Inf'
      ).split(' '),
    );
    const programming = bucketsOf(text, 'kubeproxy_network_programming_duration_seconds');
    // As a kube-proxy of version 1.37 prints them.
    const ones = Array.from({ length: 60 }, (_, index) => String(index + 1));
    const more = '65 70 75 80 85 90 95 100 105 110 115 120 150 180 210 240 270 300 +Inf'.split(' ');
    assert.deepEqual(programming, ['0', '0.25', '0.5', ...ones, ...more]);
  });

  it('count relayed node ports where the feature gate is on, and only there', async () => {
    const relay = () => ({
      listeners: { IPv4: 3, IPv6: 2 },
      listenFailures: { IPv4: 0, IPv6: 7 },
    });
    const prefix = 'kubeproxy_nftables_localhost_nodeport';
    const text = await metricsOf({ relay }).render();
    assert.equal(sampleOf(text, `${prefix}_listeners{ip_family="IPv4"}`), 3);
    assert.equal(sampleOf(text, `${prefix}_listener_creation_failures_total{ip_family="IPv6"}`), 7);
    assert.ok(!(await metricsOf().render()).includes(prefix));
  });

  it('have its labels and types', async () => {
    const timely = {
      IPv4: familyCondition({ lastSyncedAtMs: 5_500 }),
      IPv6: familyCondition({ lastSyncedAtMs: 6_000 }),
    };
    const snapshot = snapshotWith({ conditions: conditionsWith({ timely }) });
    const metrics = metricsOf({
      snapshot: () => snapshot,
      noLocal: () => [{ family: 'IPv4', policy: 'internal', count: 0 }],
    });
    tell(metrics, 'onReceived', { kind: 'service', type: 'put', atMs: 4_000 });
    tell(metrics, 'onStep', step(5));
    tell(metrics, 'onInspected', inspected({}));
    tell(metrics, 'onAcknowledged', acknowledged({ sinceTriggeredMs: [1200] }));
    metrics.onProbe('healthz', 200);
    metrics.onProbe('livez', 503);
    metrics.onFlowsReconciled({ family: 'IPv4', durationMs: 6, deletedCount: 3 });
    const text = await metrics.render();
    for (const [name, type] of [
      ['sync_proxy_rules_duration_seconds', 'histogram'],
      ['sync_full_proxy_rules_duration_seconds', 'histogram'],
      ['sync_partial_proxy_rules_duration_seconds', 'histogram'],
      ['sync_proxy_rules_last_timestamp_seconds', 'gauge'],
      ['sync_proxy_rules_last_queued_timestamp_seconds', 'gauge'],
      ['network_programming_duration_seconds', 'histogram'],
      ['sync_proxy_rules_endpoint_changes_pending', 'gauge'],
      ['sync_proxy_rules_endpoint_changes_total', 'counter'],
      ['sync_proxy_rules_service_changes_pending', 'gauge'],
      ['sync_proxy_rules_service_changes_total', 'counter'],
      ['sync_proxy_rules_no_local_endpoints_total', 'gauge'],
      ['sync_proxy_rules_nftables_sync_failures_total', 'counter'],
      ['conntrack_reconciler_sync_duration_seconds', 'histogram'],
      ['conntrack_reconciler_deleted_entries_total', 'counter'],
      ['proxy_healthz_total', 'counter'],
      ['proxy_livez_total', 'counter'],
    ] as const) {
      assert.ok(text.includes(`# TYPE kubeproxy_${name} ${type}\n`), name);
    }
    for (const [series, value] of [
      ['sync_proxy_rules_duration_seconds_count{ip_family="IPv6"}', 1],
      ['sync_full_proxy_rules_duration_seconds_sum{ip_family="IPv4"}', 0.02],
      ['sync_partial_proxy_rules_duration_seconds_sum{ip_family="IPv4"}', 0.005],
      ['sync_proxy_rules_last_timestamp_seconds{ip_family="IPv4"}', 5.5],
      ['sync_proxy_rules_last_timestamp_seconds{ip_family="IPv6"}', 6],
      ['sync_proxy_rules_last_queued_timestamp_seconds{ip_family="IPv4"}', 4],
      ['sync_proxy_rules_service_changes_total', 1],
      ['sync_proxy_rules_endpoint_changes_total', 0],
      ['sync_proxy_rules_nftables_sync_failures_total{ip_family="IPv4"}', 0],
      ['network_programming_duration_seconds_count{ip_family="IPv4"}', 1],
      ['conntrack_reconciler_deleted_entries_total{ip_family="IPv4"}', 3],
      ['conntrack_reconciler_deleted_entries_total{ip_family="IPv6"}', 0],
      ['proxy_healthz_total{code="200"}', 1],
      ['proxy_livez_total{code="503"}', 1],
    ] as const) {
      assert.equal(sampleOf(text, `kubeproxy_${series}`), value, series);
    }
  });

  it('omit sync metrics before the first sync', async () => {
    const text = await metricsOf().render();
    const series = 'kubeproxy_sync_proxy_rules_last_timestamp_seconds{ip_family="IPv4"}';
    assert.equal(sampleOf(text, series), undefined);
  });

  it('count pending changes until all is written', async () => {
    let snapshot: AgentSnapshot = snapshotWith({ rows: { desired: 2, applied: 0, pending: 2 } });
    const metrics = metricsOf({ snapshot: () => snapshot });
    tell(metrics, 'onReceived', { kind: 'slice', type: 'put', atMs: 1 });
    tell(metrics, 'onReceived', { kind: 'slice', type: 'delete', atMs: 1 });
    const series = 'kubeproxy_sync_proxy_rules_endpoint_changes_pending';
    assert.equal(sampleOf(await metrics.render(), series), 2);
    tell(metrics, 'onStep', step(1, 1));
    assert.equal(sampleOf(await metrics.render(), series), 2);
    tell(metrics, 'onStep', step(1, 0));
    assert.equal(sampleOf(await metrics.render(), series), 0);
    tell(metrics, 'onReceived', { kind: 'slice', type: 'put', atMs: 1 });
    snapshot = snapshotWith();
    assert.equal(sampleOf(await metrics.render(), series), 0);
  });

  it('date the last change by the current wall clock', async () => {
    let wallMs = 1_000_000;
    const clock = { monotonicMs: () => 500_000, wallMs: () => wallMs };
    const metrics = metricsOf({ clock });
    tell(metrics, 'onReceived', { kind: 'slice', type: 'put', atMs: 499_000 });
    const series = 'kubeproxy_sync_proxy_rules_last_queued_timestamp_seconds{ip_family="IPv4"}';
    assert.equal(sampleOf(await metrics.render(), series), 999);
    wallMs += 3_600_000;
    assert.equal(sampleOf(await metrics.render(), series), 999 + 3_600);
  });

  it('ignore triggers from before the start', async () => {
    const metrics = metricsOf();
    const atMs = STARTED_AT_MS + 1_000;
    tell(metrics, 'onAcknowledged', acknowledged({ sinceTriggeredMs: [1_001, 1_000] }, atMs));
    const series = 'kubeproxy_network_programming_duration_seconds_count{ip_family="IPv4"}';
    assert.equal(sampleOf(await metrics.render(), series), 1);
  });

  it('count failures under the names that the mode has for them', async () => {
    const failure = { families: ['IPv6'], rowCount: 1, scope: 'row', code: '', message: '' };
    const failureNames = { writes: 'x_failures_total', partialWrites: 'x_partial_failures_total' };
    const metrics = metricsOf({ failureNames });
    tell(metrics, 'onStepFailed', failure);
    const text = await metrics.render();
    for (const name of Object.values(failureNames)) {
      const series = `kubeproxy_sync_proxy_rules_${name}`;
      assert.equal(sampleOf(text, `${series}{ip_family="IPv6"}`), 1);
      assert.equal(sampleOf(text, `${series}{ip_family="IPv4"}`), 0);
    }
    assert.equal(sampleOf(text, 'fairlead_write_failures_total{scope="row"}'), 1);
    assert.doesNotMatch(text, /cleanup_failures/);
  });

  it('count leftovers that could not be deleted, by an inspection or of another mode', async () => {
    const failureNames = { writes: 'x_failures_total', cleanups: 'x_cleanup_failures_total' };
    const metrics = metricsOf({ failureNames });
    const series = 'kubeproxy_sync_proxy_rules_x_cleanup_failures_total{ip_family="IPv4"}';
    assert.equal(sampleOf(await metrics.render(), series), 0);
    tell(metrics, 'onInspectionFailed', { code: '', message: '' });
    metrics.onCleanupFailed();
    assert.equal(sampleOf(await metrics.render(), series), 2);
  });

  it('have the version of the replaced kube-proxy, and the feature gates', async () => {
    const features = [
      { name: 'ComponentFlagz', stage: 'BETA', isOn: true },
      { name: 'KubeProxyNFTablesLocalhostNodePorts', stage: 'ALPHA', isOn: false },
    ];
    const text = await metricsOf({ kubernetes: { version: 'v1.37.1', features } }).render();
    const found = /^kubernetes_build_info\{(.*)\} 1$/m.exec(text)?.[1] ?? '';
    for (const label of ['git_version="v1.37.1"', 'major="1"', 'minor="37"', 'go_version=""']) {
      assert.ok(found.includes(label), `${label} in ${found}`);
    }
    const gate = (labels: string) => sampleOf(text, `kubernetes_feature_enabled{${labels}}`);
    assert.equal(gate('name="ComponentFlagz",stage="BETA"'), 1);
    assert.equal(gate('name="KubeProxyNFTablesLocalhostNodePorts",stage="ALPHA"'), 0);
  });

  it('have wanted and attached hooks', async () => {
    const attachments = async () => [
      { place: 'cgroup', name: 'connect4', isAttached: true } as const,
      { place: 'cgroup', name: 'connect6', isAttached: false } as const,
      { place: 'tc', name: 'eth0', isAttached: true } as const,
    ];
    const text = await metricsOf({ attachments }).render();
    for (const [series, value] of [
      ['fairlead_hooks_wanted{place="cgroup"}', 2],
      ['fairlead_hooks_attached{place="cgroup"}', 1],
      ['fairlead_hooks_attached{place="tc"}', 1],
    ] as const) {
      assert.equal(sampleOf(text, series), value, series);
    }
  });

  it('count service ports without local endpoints', async () => {
    const noLocal = () => [
      { family: 'IPv4', policy: 'internal', count: 1 } as const,
      { family: 'IPv4', policy: 'external', count: 2 } as const,
    ];
    const text = await metricsOf({ noLocal }).render();
    const count = (policy: string, family: string): number | undefined => {
      const labels = `traffic_policy="${policy}",ip_family="${family}"`;
      return sampleOf(text, `kubeproxy_sync_proxy_rules_no_local_endpoints_total{${labels}}`);
    };
    assert.equal(count('internal', 'IPv4'), 1);
    assert.equal(count('external', 'IPv4'), 2);
  });
});

it('counts the ping healthcheck, as kube-proxy does', async () => {
  const metrics = metricsOf();
  await metrics.renderSlis();
  const text = await metrics.renderSlis();
  assert.equal(sampleOf(text, 'kubernetes_healthcheck{name="ping",type="healthz"}'), 1);
  const total = 'kubernetes_healthchecks_total{name="ping",type="healthz",status="success"}';
  assert.equal(sampleOf(text, total), 2);
});
