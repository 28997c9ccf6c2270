import assert from 'node:assert/strict';
import { after, afterEach, test } from 'node:test';
import { change } from '../../../../dataplanes/shared/testing/plane-change.ts';
import { type Forwarding, servicePortKey } from '../../../../forwarding/model.ts';
import { type Figure, processorFigure } from '../../../../forwarding/testing/rounds.ts';
import { loadObject } from '../../../../linux/ebpf/load-object.ts';
import { testPlace } from '../testing/ebpf-place.ts';
import { clusterIp, FACTS, rowOf } from '../testing/ebpf-rows.ts';
import { Knowledge } from './map-knowledge.ts';
import { Transaction } from './map-transaction.ts';
import { Tables } from './open-tables.ts';
import { SlotSpace } from './slot-space.ts';

const place = testPlace('large-rows');
const SLOTS = 65_536;

afterEach(() => place.newPlane().remove());
after(() => place.leave());

function addresses(network: number, count: number): string[] {
  return Array.from(
    { length: count },
    (_, n) => `10.${network + (n >> 16)}.${(n >> 8) & 255}.${n & 255}`,
  );
}

function rowWith(counts: { readonly frontends: number; readonly endpoints: number }): Forwarding {
  return rowOf('large', {
    frontends: addresses(96, counts.frontends).map((address) => clusterIp(address)),
    endpoints: addresses(244, counts.endpoints).map((address) => `${address}:80`),
  });
}

test('plans a change of one frontend with a few reads of each', () => {
  const loaded = loadObject(place.object, { programs: [] });
  const knowledge = new Knowledge();
  knowledge.space = new SlotSpace({ capacity: SLOTS });
  const count = 3000;
  let reads = 0;
  const large = rowWith({ frontends: count, endpoints: 5 });
  const frontends = large.frontends.map((frontend) => {
    const { address } = frontend;
    const get = (): string => {
      reads += 1;
      return address;
    };
    return Object.defineProperty({ ...frontend }, 'address', { get });
  });
  const all = { ...large, frontends };
  knowledge.lists.set(servicePortKey(all.id), { first: 0, length: 5 });
  const less = { ...all, frontends: frontends.slice(1) };
  new Transaction(knowledge, new Tables(loaded.maps)).plan([change(all, less)]);
  loaded.close();
  assert.ok(reads < count * 10, `${reads} reads of ${count} addresses`);
});

/** The cost of an inspection that finds every frontend leading to wrong endpoints. */
async function inspectionFigure(endpoints: number): Promise<Figure> {
  const plane = place.newPlane();
  const row = rowWith({ frontends: 3000, endpoints });
  const other = { ...row, clusterEndpoints: row.clusterEndpoints.toReversed() };
  await plane.inspect({ facts: FACTS, rows: [] }, 'everything');
  await plane.apply([change('absent', row)]);
  const figure = await processorFigure(async () => {
    await plane.inspect({ facts: FACTS, rows: [other] }, 'everything');
  });
  await plane.remove();
  return figure;
}

test('inspects in time proportional to frontends and endpoints, not to their product', async (t) => {
  const few = await inspectionFigure(8);
  const many = await inspectionFigure(8000);
  const text = `of processor: 3,000 x 8: ${few.text}, 3,000 x 8,000: ${many.text}`;
  t.diagnostic(text);
  assert.ok(many.median < few.median * 10, text);
});

test('serves and inspects a row with as many frontends as one Service can name', async () => {
  const plane = place.newPlane();
  const row = rowWith({ frontends: 100_000, endpoints: 2 });
  const key = servicePortKey(row.id);
  await plane.inspect({ facts: FACTS, rows: [] }, 'everything');
  await plane.apply([change('absent', row)]);
  assert.equal((await plane.frontends()).length, 100_000);
  const other = { ...row, clusterEndpoints: row.clusterEndpoints.toReversed() };
  const wrong = await plane.inspect({ facts: FACTS, rows: [other] }, 'everything');
  assert.ok(!wrong.right.has(key));
  await plane.apply([change('absent', other)]);
  const right = await plane.inspect({ facts: FACTS, rows: [other] }, 'everything');
  assert.ok(right.right.has(key));
});
