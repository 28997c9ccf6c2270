import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Forwarding } from '../../../forwarding/model.ts';
import { compareRows, send } from './fill.ts';
import { testDirectory } from './forwarder/testing/directories.ts';
import type { ForwarderLink } from './forwarder-link.ts';
import { keyOf, type Request, type WireChange } from './forwarder-protocol.ts';
import { DECLINED, rowDigest } from './row-digest.ts';
import { wireRow } from './wire-rows.ts';

function rowOf(number: number, endpointCount: number): WireChange {
  const cluster = Array.from(
    { length: endpointCount },
    (_, at) => `10.0.${at >> 8}.${at & 255} 80`,
  );
  const key = `default/service-${number}/TCP/IPv4`;
  return { set: { key, affinitySeconds: 0, frontends: [], cluster, local: [] } };
}

/** The messages; rows that are named are declined. */
async function sent(changes: readonly WireChange[], declines: readonly string[] = []) {
  const messages: WireChange[][] = [];
  const ask = async (request: Request) => {
    const named = request.do === 'apply' ? request.changes : [];
    messages.push([...named]);
    return {
      declined: declines.filter((key) => named.some((each) => keyOf(each) === key)),
    };
  };
  const link = { ask } as unknown as Pick<ForwarderLink, 'ask'>;
  const declined = await send(link, changes, 1000);
  return { messages, declined };
}

const lengths = async (changes: readonly WireChange[]) =>
  (await sent(changes)).messages.map(({ length }) => length);

test('sends few rows of many endpoints in one message, and many of few', async () => {
  assert.deepEqual(await lengths([]), []);
  const many = Array.from({ length: 1200 }, (_, at) => rowOf(at, 2));
  assert.deepEqual(await lengths(many), [500, 500, 200]);
  // Together they would exceed what the forwarder takes in one message.
  const large = [rowOf(1, 1), rowOf(2, 15_000), rowOf(3, 15_000), rowOf(4, 1)];
  assert.deepEqual(await lengths(large), [2, 2]);
  assert.deepEqual((await sent(large)).messages.flat(), large);
});

test('sends a large row in parts, none of which is too large for the forwarder', async () => {
  const list = (count: number) =>
    Array.from(
      { length: 45_000 },
      (_, at) =>
        `fd00:128:1234:5678:9abc:def0:${count}${at >> 16}:${(at & 0xffff).toString(16)} 65535`,
    );
  const row = { key: 'evil/s:p/TCP/IPv6', affinitySeconds: 0, frontends: [] };
  const [cluster, local] = [list(1), list(2)];
  const { messages } = await sent([{ set: { ...row, cluster, local } }]);
  const { directory } = testDirectory({ mostSlots: 1_000_000 });
  for (const changes of messages) {
    assert.ok(JSON.stringify({ do: 'apply', changes }).length < 2_000_000);
    for (const change of changes) directory.rows.apply(change);
  }
  const wanted = rowDigest({ ...row, cluster, local });
  assert.deepEqual([...directory.rows.digests()], [[row.key, wanted]]);
  const changed = { added: list(3), removed: cluster };
  const after = await sent([{ change: row.key, affinitySeconds: 10, cluster: changed }]);
  for (const change of after.messages.flat()) {
    directory.rows.apply(change);
    const size = [...directory.rows.digests()].length;
    assert.equal(size, 1);
  }
  const affinity = { ...row, affinitySeconds: 10, cluster: list(3), local };
  assert.deepEqual([...directory.rows.digests()], [[row.key, rowDigest(affinity)]]);
});

test('tells which rows were declined, by the last of their parts', async () => {
  const row = rowOf(1, 50_000);
  assert.deepEqual([...(await sent([row, rowOf(2, 1)], [keyOf(row)])).declined], [keyOf(row)]);
  let asked = 0;
  const ask = async () => ({ declined: asked++ === 0 ? [keyOf(row)] : [] });
  const link = { ask } as unknown as Pick<ForwarderLink, 'ask'>;
  assert.deepEqual([...(await send(link, [row], 1000))], []);
});

test('sends a declined row again, and counts it as no difference', async () => {
  const forward = { action: 'forward', list: 'cluster', masquerade: false } as const;
  const outcomes = { pod: forward, host: forward, outside: forward };
  const row: Forwarding = {
    id: { namespace: 'a', service: 'b', port: '', protocol: 'TCP', family: 'IPv4' },
    frontends: [{ kind: 'cluster-ip', address: '10.96.0.1', port: 80, outcomes }],
    clusterEndpoints: [{ address: '10.244.0.1', port: 8080, local: true }],
    localEndpoints: [],
    affinitySeconds: 0,
  };
  const set = wireRow(row);
  assert.ok(set);
  const { changes, differences } = await compareRows([[set.key, DECLINED]], [row]);
  assert.deepEqual([changes, differences.count], [[{ set }], 0]);
});
