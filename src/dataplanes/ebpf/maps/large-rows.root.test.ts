import assert from 'node:assert/strict';
import { after, afterEach, test } from 'node:test';
import { type Forwarding, servicePortKey } from '../../../forwarding/model.ts';
import { loadObject } from '../../../linux/bpf/load.ts';
import { testPlace } from '../testing/place.ts';
import { change, clusterIp, FACTS, rowOf } from '../testing/rows.ts';
import { Knowledge } from './knowledge.ts';
import { SlotSpace } from './slot-space.ts';
import { Tables } from './tables.ts';
import { Transaction } from './transaction.ts';

const place = testPlace('large-rows');
const SLOTS = 65_536;
const TRIES = 5;

afterEach(() => place.newPlane().remove());
after(() => place.leave());

function addresses(network: number, count: number): string[] {
  return Array.from(
    { length: count },
    (_, n) => `10.${network + (n >> 16)}.${(n >> 8) & 255}.${n & 255}`,
  );
}

function rowWith(of: { readonly frontends: number; readonly endpoints: number }): Forwarding {
  return rowOf('large', {
    frontends: addresses(96, of.frontends).map((address) => clusterIp(address)),
    endpoints: addresses(244, of.endpoints).map((address) => `${address}:80`),
  });
}

/** The least time of the processor that it takes to plan one frontend less, in milliseconds. */
async function planningMs(frontends: number): Promise<number> {
  const loaded = loadObject(place.object, { programs: [] });
  const tables = new Tables(loaded.maps);
  const knowledge = new Knowledge();
  knowledge.space = new SlotSpace({ capacity: SLOTS });
  knowledge.slotPrints = new Uint32Array(SLOTS);
  const all = rowWith({ frontends, endpoints: 5 });
  const less = { ...all, frontends: all.frontends.slice(1) };
  const first = new Transaction(knowledge, tables);
  first.plan([change(undefined, all)]);
  await first.write();
  const times = Array.from({ length: TRIES }, () => {
    const before = process.threadCpuUsage();
    new Transaction(knowledge, tables).plan([change(all, less)]);
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1000;
  });
  loaded.close();
  return Math.min(...times);
}

test('plans a change of one frontend in time proportional to the frontends', async (t) => {
  await planningMs(2000);
  const few = await planningMs(2000);
  const many = await planningMs(32_000);
  t.diagnostic(`2,000: ${few.toFixed(2)} ms, 32,000: ${many.toFixed(2)} ms`);
  // Each with each would take 256 times as long; caches and garbage are why it is not just 16 times.
  assert.ok(many < few * 80);
});

/** The shortest time of an inspection that finds every frontend leading to endpoints that are wrong. */
async function inspectionMs(endpoints: number): Promise<number> {
  const plane = place.newPlane();
  const row = rowWith({ frontends: 3000, endpoints });
  const other = { ...row, clusterEndpoints: row.clusterEndpoints.toReversed() };
  await plane.inspect({ facts: FACTS, rows: [] }, 'everything');
  await plane.apply([change(undefined, row)]);
  let shortestMs = Number.POSITIVE_INFINITY;
  for (let round = 0; round < TRIES; round++) {
    const beganMs = performance.now();
    await plane.inspect({ facts: FACTS, rows: [other] }, 'everything');
    shortestMs = Math.min(shortestMs, performance.now() - beganMs);
  }
  await plane.remove();
  return shortestMs;
}

test('inspects in time proportional to frontends and endpoints, not to their product', async (t) => {
  const few = await inspectionMs(8);
  const many = await inspectionMs(8000);
  t.diagnostic(`3,000 x 8: ${few.toFixed(1)} ms, 3,000 x 8,000: ${many.toFixed(1)} ms`);
  assert.ok(many < few * 4);
});

test('serves and inspects a row with as many frontends as one Service can name', async () => {
  const plane = place.newPlane();
  const row = rowWith({ frontends: 100_000, endpoints: 2 });
  const key = servicePortKey(row.id);
  await plane.inspect({ facts: FACTS, rows: [] }, 'everything');
  await plane.apply([change(undefined, row)]);
  assert.equal((await plane.frontends()).length, 100_000);
  const other = { ...row, clusterEndpoints: row.clusterEndpoints.toReversed() };
  const wrong = await plane.inspect({ facts: FACTS, rows: [other] }, 'everything');
  assert.ok(!wrong.right.has(key));
  await plane.apply([change(undefined, other)]);
  const right = await plane.inspect({ facts: FACTS, rows: [other] }, 'everything');
  assert.ok(right.right.has(key));
});
