import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { change } from '../../../dataplanes/shared/testing/plane-change.ts';
import type { Endpoint, Forwarding, Frontend, Outcome } from '../../../forwarding/model.ts';
import type { WireListChange, WireRow } from './forwarder-protocol.ts';
import { wireChange, wireRow } from './wire-rows.ts';

const CLUSTER: Outcome = { action: 'forward', list: 'cluster', masquerade: false };
const LOCAL: Outcome = { action: 'forward', list: 'local', masquerade: false };
const DROP: Outcome = { action: 'drop' };
const REJECT: Outcome = { action: 'reject' };

function frontend(over: Partial<Frontend> = {}): Frontend {
  const outcomes = { pod: CLUSTER, host: CLUSTER, outside: DROP };
  return { kind: 'cluster-ip', address: '10.96.0.1', port: 80, outcomes, ...over };
}

function endpoints(...hosts: readonly number[]): Endpoint[] {
  return hosts.map((host) => ({ address: `10.244.0.${host}`, port: 8080, local: true }));
}

function row(over: Partial<Forwarding> = {}): Forwarding {
  return {
    id: { namespace: 'ns', service: 'web', port: '', protocol: 'TCP', family: 'IPv4' },
    frontends: [frontend()],
    clusterEndpoints: endpoints(1, 2, 3),
    localEndpoints: endpoints(1),
    affinitySeconds: 0,
    ...over,
  };
}

test('sends frontends by source class, and only the lists that one of them uses', () => {
  assert.deepEqual(wireRow(row()), {
    key: 'ns/web/TCP/IPv4',
    affinitySeconds: 0,
    frontends: [
      {
        address: '10.96.0.1',
        port: 80,
        treatments: {
          pod: { list: 'cluster', masquerade: false },
          host: { list: 'cluster', masquerade: false },
          outside: null,
        },
      },
    ],
    cluster: ['10.244.0.1 8080', '10.244.0.2 8080', '10.244.0.3 8080'],
    local: [],
  });
});

test('leaves out frontends that are not served or forward nothing, and rows without another', () => {
  const nothing = frontend({ outcomes: { pod: REJECT, host: REJECT, outside: DROP } });
  const notServed = frontend({ notServed: { reason: 'api-server' }, port: 81 });
  const sent = wireRow(row({ frontends: [nothing, frontend({ port: 82 }), notServed] }));
  assert.deepEqual(
    sent?.frontends.map(({ port }) => port),
    [82],
  );
  assert.equal(wireRow(row({ frontends: [nothing, notServed] })), undefined);
});

test('never sends a row of UDP or SCTP, and sends one that opted out of eBPF', () => {
  for (const protocol of ['UDP', 'SCTP'] as const) {
    const other = row({ id: { ...row().id, protocol } });
    assert.equal(wireRow(other), undefined);
    assert.equal(wireChange(change('absent', other)), undefined);
    assert.equal(wireChange(change('unknown', other)), undefined);
    assert.equal(wireChange(change(other, undefined)), undefined);
  }
  assert.ok(wireRow(row({ onlyPackets: true })));
});

test('names only the endpoints that change', () => {
  const before = row({ clusterEndpoints: endpoints(1, 2, 3, 4) });
  const after = row({ clusterEndpoints: endpoints(1, 3, 4, 5) });
  assert.deepEqual(wireChange(change(before, after)), {
    change: 'ns/web/TCP/IPv4',
    cluster: { added: ['10.244.0.5 8080'], removed: ['10.244.0.2 8080'] },
  });
  assert.equal(wireChange(change(before, { ...before, healthCheckPort: 1 })), undefined);
});

test('sets a row of unknown state, and deletes one that forwards nothing any more', () => {
  const gone = row({
    frontends: [frontend({ outcomes: { pod: DROP, host: DROP, outside: DROP } })],
  });
  assert.deepEqual(wireChange(change('unknown', row())), { set: wireRow(row()) });
  assert.deepEqual(wireChange(change(row(), gone)), { delete: 'ns/web/TCP/IPv4' });
  assert.deepEqual(wireChange(change('unknown', gone)), { delete: 'ns/web/TCP/IPv4' });
  assert.deepEqual(wireChange(change(gone, row())), { set: wireRow(row()) });
  assert.equal(wireChange(change('absent', gone)), undefined);
  assert.equal(wireChange(change(gone, undefined)), undefined);
});

const LIST = fc
  .uniqueArray(fc.integer({ min: 1, max: 12 }))
  .map((hosts) => endpoints(...hosts.sort((a, b) => a - b)));
const FRONTENDS = fc.array(
  fc
    .record({
      pod: fc.constantFrom(CLUSTER, LOCAL, REJECT),
      host: fc.constantFrom(CLUSTER, LOCAL, DROP),
      outside: fc.constantFrom(CLUSTER, LOCAL, DROP),
    })
    .map((outcomes) => frontend({ outcomes })),
  { maxLength: 2 },
);
const ROW = fc
  .record({
    frontends: FRONTENDS,
    clusterEndpoints: LIST,
    localEndpoints: LIST,
    affinitySeconds: fc.constantFrom(0, 10),
  })
  .map(row);

test('a change makes of the row before what the row after is sent as', () => {
  fc.assert(
    fc.property(ROW, ROW, (before, after) => {
      assert.deepEqual(changed(wireRow(before), wireChange(change(before, after))), sorted(after));
    }),
  );
});

function sorted(after: Forwarding): WireRow | undefined {
  const sent = wireRow(after);
  return sent && { ...sent, cluster: sent.cluster.toSorted(), local: sent.local.toSorted() };
}

/** As the forwarder does it. */
function changed(
  before: WireRow | undefined,
  by: ReturnType<typeof wireChange>,
): WireRow | undefined {
  const now = by === undefined ? before : rowAfter(before, by);
  return now && { ...now, cluster: now.cluster.toSorted(), local: now.local.toSorted() };
}

function rowAfter(
  before: WireRow | undefined,
  by: NonNullable<ReturnType<typeof wireChange>>,
): WireRow | undefined {
  if ('set' in by) return by.set;
  if ('delete' in by) return undefined;
  assert.ok(before);
  const { affinitySeconds = before.affinitySeconds, frontends = before.frontends } = by;
  const cluster = listAfter(before.cluster, by.cluster);
  const local = listAfter(before.local, by.local);
  return { ...before, affinitySeconds, frontends, cluster, local };
}

function listAfter(before: readonly string[], by: WireListChange | undefined): readonly string[] {
  if (by === undefined) return before;
  return [...before.filter((each) => !by.removed.includes(each)), ...by.added];
}
