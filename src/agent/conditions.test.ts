import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServerGap } from '../cluster/server-report.ts';
import { type Assessed, assess } from './assess.ts';
import { healthz, livez, readyz, type Verdict } from './conditions.ts';
import { NODE } from './testing/agent-stage.ts';

const WELL: Assessed = {
  nowMs: 1_000_000,
  startedAtMs: 0,
  syncPeriodMs: 30_000,
  sources: [],
  missing: [],
  firstSyncAtMs: 1000,
  pendingCount: 0,
  pendingSinceMs: { IPv4: undefined, IPv6: undefined },
  lastSyncedAtMs: { IPv4: 1000, IPv6: 1000 },
  failure: undefined,
  lastDrift: undefined,
  interruption: undefined,
  pace: { rows: [], rowCount: 0, namespaces: [], namespaceCount: 0, longestWaitMs: 0 },
  affinityFill: undefined,
  addresses: {
    notServed: {
      'other-service': 0,
      'service-range': 0,
      'outside-ranges': 0,
      'api-server': 0,
      'host-socket': 0,
    },
    conflicts: [],
  },
  expectsNode: true,
  node: { state: 'present', object: NODE },
};

function verdicts(more: Partial<Assessed>): Record<'livez' | 'readyz' | 'healthz', Verdict> {
  const conditions = assess({ ...WELL, ...more }, () => 0);
  return { livez: livez(conditions), readyz: readyz(conditions), healthz: healthz(conditions) };
}

const OK: Verdict = { ok: true, failing: [] };

test('is healthy when all conditions hold', () => {
  assert.deepEqual(verdicts({}), { livez: OK, readyz: OK, healthz: OK });
});

test('a change that is pending for twice the sync period makes its family unhealthy', () => {
  const waiting = (ms: number): Partial<Assessed> => ({
    pendingSinceMs: { IPv4: undefined, IPv6: WELL.nowMs - ms },
  });
  assert.deepEqual(verdicts(waiting(59_999)).livez, OK);
  const late = { ok: false, failing: ['timely.IPv6'] };
  assert.deepEqual(verdicts(waiting(60_000)), { livez: late, readyz: late, healthz: late });
});

test('before the first sync a node is alive but not ready', () => {
  const unready = { ok: false, failing: ['firstSync'] };
  const expected = { livez: OK, readyz: unready, healthz: unready };
  assert.deepEqual(verdicts({ firstSyncAtMs: undefined }), expected);
});

test('is not ready while a part of the scope is forbidden', () => {
  const health = { connected: false, lastHeardAtMs: 0, skippedCount: 0, lastError: '403' };
  const forbidden = ['namespace billing'];
  const sources = [
    { kind: 'service', ...health, forbidden },
    { kind: 'slice', ...health, forbidden },
  ] as const;
  const unready = { ok: false, failing: ['listed'] };
  assert.deepEqual(verdicts({ sources }), { livez: OK, readyz: unready, healthz: unready });
  assert.equal(
    assess({ ...WELL, sources }, () => 0).listed.why,
    'not allowed to read Services of namespace billing, EndpointSlices of namespace billing',
  );
  const starting = verdicts({ sources, firstSyncAtMs: undefined, missing: ['slice'] });
  assert.deepEqual(starting.readyz.failing, ['firstSync']);
});

test('a node that is about to be removed gets no traffic from load balancers', () => {
  const leaving = { livez: OK, readyz: OK, healthz: { ok: false, failing: ['nodeEligible'] } };
  const node = (more: Partial<typeof NODE>): Partial<Assessed> => ({
    node: { state: 'present', object: { ...NODE, ...more } },
  });
  assert.deepEqual(verdicts(node({ deleting: true })), leaving);
  assert.deepEqual(verdicts(node({ taintKeys: ['ToBeDeletedByClusterAutoscaler'] })), leaving);
  assert.deepEqual(verdicts({ node: { state: 'unknown' } }), leaving);
  assert.deepEqual(verdicts({ node: { state: 'deleted', object: NODE } }), leaving);
  assert.deepEqual(verdicts(node({ taintKeys: ['other'] })).healthz, OK);
  assert.deepEqual(verdicts({ node: { state: 'unknown' }, expectsNode: false }).healthz, OK);
});

test('an unreachable API, drift and errors are reported without a restart', () => {
  const failure = { code: 'BAD', message: 'rejected', next: '', atMs: 0 };
  const sources = [
    { kind: 'slice', connected: false, lastHeardAtMs: 940_000, skippedCount: 0 },
  ] as const;
  const lastDrift = { atMs: 999_000, what: 'table deleted', by: { pid: 1, program: 'nft' } };
  const about = { ...WELL, failure, sources, lastDrift, interruption: failure };
  const conditions = assess(about, () => 0);
  assert.deepEqual(healthz(conditions), OK);
  assert.equal(
    conditions.apiFresh.why,
    'slice: nothing received for 60.0 s; the kernel keeps its current rules',
  );
  assert.equal(conditions.errorFree.why, 'rejected (BAD)');
  assert.equal(conditions.undisturbed.why, 'table deleted by nft (1)');
  assert.equal(conditions.watching.isTrue, false);
  const later = assess({ ...about, nowMs: 1_599_000 }, () => 0);
  assert.deepEqual([later.undisturbed.isTrue, later.undisturbed.sinceMs], [true, 1_599_000]);
});

const gap = (feature: ServerGap['feature'], isFelt: boolean): ServerGap => {
  return { feature, reason: 'not served', effect: '', isFelt };
};

test('an API server without ServiceCIDR leaves a node ready, and is named', () => {
  const server = { version: 'v1.32.9', gaps: [gap('ServiceCIDR', true)] };
  assert.deepEqual(verdicts({ server }), { livez: OK, readyz: OK, healthz: OK });
  const { apiComplete } = assess({ ...WELL, server }, () => 0);
  assert.deepEqual(apiComplete, { isTrue: false, sinceMs: 0, why: 'v1.32.9 lacks ServiceCIDR' });
});

test('an API server that streams no lists changes nothing', () => {
  const server = { version: 'v1.33.1', gaps: [gap('streaming lists', false)] };
  assert.equal(assess({ ...WELL, server }, () => 0).apiComplete.isTrue, true);
});
