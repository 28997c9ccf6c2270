import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { servicePortKey } from '../../forwarding/model.ts';
import { openPinnedMap } from '../../linux/bpf/map-create.ts';
import { ip } from '../../linux/netlink/testing/own-namespace.ts';
import { AFFINITY_COUNT_KEY } from './maps/layout.ts';
import { affinityName } from './maps/row.ts';
import { testPlace } from './testing/place.ts';
import { change, clusterIp, FACTS, rowOf } from './testing/rows.ts';

const place = testPlace('socket-affinity');
const plane = place.newPlane();
const ENDPOINTS = ['127.0.0.11:8080', '127.0.0.12:8080', '127.0.0.13:8080'];
const STICKY = rowOf('sticky', {
  frontends: [clusterIp('10.96.0.2')],
  endpoints: ENDPOINTS,
  affinitySeconds: 60,
});

after(async () => {
  await plane.remove();
  place.leave();
});

/** As if the programs had remembered so many clients of the Service: those of sockets are namespaces. */
function countClients(count: bigint): void {
  const counts = openPinnedMap(join(place.pins, 'fairlead/maps/affinity_counts'));
  const key = Buffer.alloc(AFFINITY_COUNT_KEY.bytes);
  key.set(affinityName(servicePortKey(STICKY.id)));
  const value = Buffer.alloc(8);
  value.writeBigUInt64LE(count);
  counts.update(key, value);
  counts.close();
}

/** Connections of each endpoint after sockets of one client have connected. */
async function connectionsAfter(count: number): Promise<number[]> {
  // Nobody listens: a connection is counted when the hook has chosen its endpoint.
  await place.inGroup(`
    const net = require('net');
    let left = ${count};
    const next = () => {
      if (left-- === 0) return;
      net.connect(80, '10.96.0.2').on('error', next);
    };
    next();`);
  return (await plane.counters()).map(({ connections }) => connections);
}

test('balances the client of a Service at its quota at random, and keeps it once there is room', async () => {
  ip('link set lo up');
  await plane.inspect({ facts: FACTS, rows: [] }, 'everything');
  await plane.apply([change(undefined, STICKY)]);
  countClients(40_000n);
  assert.deepEqual((await plane.affinityFill()).full, [servicePortKey(STICKY.id)]);
  const spread = await connectionsAfter(60);
  assert.ok(
    spread.every((connections) => connections > 5),
    spread.join(),
  );
  countClients(100n);
  const kept = (await connectionsAfter(20)).map((now, at) => now - (spread[at] ?? 0));
  assert.deepEqual(kept.toSorted(), [0, 0, 20], kept.join());
  assert.equal((await plane.affinityFill()).remembered, 1);
});
