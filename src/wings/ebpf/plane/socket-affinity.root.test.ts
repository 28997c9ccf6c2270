import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, afterEach, test } from 'node:test';
import { change } from '../../../dataplanes/shared/testing/plane-change.ts';
import { servicePortKey } from '../../../forwarding/model.ts';
import { openPinnedMap } from '../../../linux/ebpf/map-create.ts';
import { ip } from '../../../linux/netlink/testing/own-namespace.ts';
import { sweepAffinities } from './maps/affinities.ts';
import { AFFINITY_COUNT_KEY } from './maps/layout.ts';
import { affinityName } from './maps/map-row.ts';
import { openMaps } from './maps/map-set.ts';
import { Tables } from './maps/open-tables.ts';
import { StickyPorts } from './maps/sticky-ports.ts';
import { Pins } from './pins.ts';
import { testPlace } from './testing/ebpf-place.ts';
import { clusterIp, FACTS, rowOf } from './testing/ebpf-rows.ts';

const place = testPlace('socket-affinity');
const plane = place.newPlane();
const PIN_FOLDER = join(place.pins, 'fairlead');
const ENDPOINTS = ['127.0.0.11:8080', '127.0.0.12:8080', '127.0.0.13:8080'];
const STICKY = rowOf('sticky', {
  frontends: [clusterIp('10.96.0.2')],
  endpoints: ENDPOINTS,
  affinitySeconds: 60,
});

afterEach(() => plane.remove());
after(() => place.leave());

ip('link set lo up');

/**
 * As if the programs had stored this many clients of the Service: those of sockets are namespaces.
 */
function countClients(count: bigint): void {
  const counts = openPinnedMap(join(PIN_FOLDER, 'maps/affinity_counts'));
  const key = Buffer.alloc(AFFINITY_COUNT_KEY.bytes);
  key.set(affinityName(servicePortKey(STICKY.id)));
  const value = Buffer.alloc(8);
  value.writeBigUInt64LE(count);
  counts.update(key, value);
  counts.close();
}

/** No process listens: a connection is counted when the hook has chosen its endpoint. */
async function connect(address: string, count: number): Promise<void> {
  await place.inGroup(`
    const net = require('net');
    let left = ${count};
    const next = () => {
      if (left-- === 0) return;
      net.connect(80, '${address}').on('error', next);
    };
    next();`);
}

/** Connections of each endpoint after sockets of one client have connected. */
async function connectionsAfter(count: number): Promise<number[]> {
  await connect('10.96.0.2', count);
  return (await plane.counters()).map(({ connections }) => connections);
}

test('balances the client of a Service at its quota at random, and keeps it once there is room', async () => {
  await plane.inspect({ facts: FACTS, rows: [] }, 'everything');
  await plane.apply([change('absent', STICKY)]);
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

test('stores no client of a Service without a counter, and still sweeps', async () => {
  const maps = place.object.maps.map((map) =>
    map.name === 'affinity_counts' ? { ...map, maxEntries: 4 } : map,
  );
  const small = place.newPlane({ object: { ...place.object, maps } });
  const other = rowOf('other', {
    frontends: [clusterIp('10.96.0.3')],
    endpoints: ENDPOINTS,
    affinitySeconds: 60,
  });
  await small.inspect({ facts: FACTS, rows: [] }, 'everything');
  await small.apply([change('absent', STICKY), change('absent', other)]);
  await connect('10.96.0.2', 1);
  await connect('10.96.0.3', 1);
  assert.equal((await small.affinityFill()).remembered, 1);
  const opened = openMaps(new Pins(PIN_FOLDER));
  assert.ok(opened);
  const sticky = new StickyPorts();
  for (const row of [STICKY, other]) sticky.add(row);
  const inAnHour = (): number => Number(process.hrtime.bigint()) + 3600e9;
  const of = { sticky: () => sticky, nowNs: inAnHour };
  assert.equal(await sweepAffinities(new Tables(opened), of), 1);
  for (const map of opened.values()) map.close();
  assert.equal((await small.affinityFill()).remembered, 0);
  await small.remove();
});
