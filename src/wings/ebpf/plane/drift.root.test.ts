import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, afterEach, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { change } from '../../../dataplanes/shared/testing/plane-change.ts';
import type { BpfMap } from '../../../linux/ebpf/map.ts';
import { openPinnedMap } from '../../../linux/ebpf/map-create.ts';
import { netnsCookie } from '../../../linux/ebpf/netns-cookie.ts';
import type { HooksPlane } from './hooks-plane.ts';
import { SETTINGS, SLOT } from './maps/layout.ts';
import { ONLY } from './maps/map-set.ts';
import { Tables } from './maps/open-tables.ts';
import { testPlace } from './testing/ebpf-place.ts';
import { clusterIp, FACTS, rowOf } from './testing/ebpf-rows.ts';

const DEADLINE_MS = 20_000;
const TOLD_WITHIN_MS = 1000;

const place = testPlace('drift');
const OTHER = rowOf('other', {
  frontends: [clusterIp('10.96.0.2')],
  endpoints: ['127.0.0.1:80'],
});
const WEB = rowOf('web', { frontends: [clusterIp('10.96.0.1')], endpoints: ['127.0.0.1:80'] });
const DESIRED = { facts: FACTS, rows: [WEB] };

afterEach(() => place.newPlane().remove());
after(() => place.leave());

interface Watched {
  readonly plane: HooksPlane;
  readonly told: string[];
}

/** A plane with one row and a watch, as the agent runs it. */
async function whileWatched(
  work: (watched: Watched) => Promise<void>,
  plane = place.newPlane(),
): Promise<void> {
  await plane.inspect({ facts: FACTS, rows: [] }, 'everything');
  await plane.apply([change('absent', WEB)]);
  const stop = new AbortController();
  const told: string[] = [];
  const watching = plane.watch(({ what }) => told.push(what), stop.signal);
  try {
    await work({ plane, told });
  } finally {
    stop.abort();
    await watching;
  }
}

function touchMap(name: string, touch: (map: BpfMap) => void): void {
  const map = openPinnedMap(join(place.pins, 'fairlead/maps', name));
  touch(map);
  map.close();
}

const TOUCHES: readonly (readonly [string, (map: BpfMap) => void])[] = [
  [
    'settings',
    (map) => {
      const value = map.lookup(ONLY) ?? Buffer.alloc(SETTINGS.bytes);
      value.writeBigUInt64LE(1n, SETTINGS.hostCookie);
      map.update(ONLY, value);
    },
  ],
  ['node_addresses', (map) => void map.delete(map.nextKey(undefined) ?? ONLY)],
  ['frontends', (map) => void map.delete(map.nextKey(undefined) ?? ONLY)],
  [
    'slots',
    (map) => {
      const value = map.lookup(ONLY) ?? Buffer.alloc(SLOT.bytes);
      value.writeUInt16BE(81, SLOT.port);
      map.update(ONLY, value);
    },
  ],
];

for (const [name, touch] of TOUCHES) {
  test(`reports and repairs a write of another process to ${name} within a second`, async () => {
    await whileWatched(async ({ plane, told }) => {
      touchMap(name, touch);
      assert.equal((await plane.diff(DESIRED)).length > 0, true);
      const from = performance.now();
      while (told.length === 0 && performance.now() - from < DEADLINE_MS) await delay(5);
      assert.match(told[0] ?? 'nothing', new RegExp(name));
      assert.ok(performance.now() - from < TOLD_WITHIN_MS);
      const { right } = await plane.inspect(DESIRED, 'reported');
      if (right.size === 0) await plane.apply([change('unknown', WEB)]);
      assert.deepEqual(await plane.diff(DESIRED), []);
    });
  });
}

test('reports a write that the kernel rejects half-way', async () => {
  const failing = { next: false };
  const plane = place.newPlane({
    openTables: (maps) => {
      const tables = new Tables(maps);
      const writeFrontends = tables.writeFrontends.bind(tables);
      tables.writeFrontends = async (batch) => {
        if (failing.next) throw new Error('planted');
        await writeFrontends(batch);
      };
      return tables;
    },
  });
  await whileWatched(async ({ told }) => {
    failing.next = true;
    await assert.rejects(plane.apply([change(WEB, undefined), change('absent', OTHER)]), /planted/);
    assert.match(told.join(), /failed part way/);
  }, plane);
});

test('finds in the next inspection what was reported before one that failed', async () => {
  const failing = { next: false };
  const cookie = netnsCookie();
  const plane = place.newPlane({
    hostCookie: () => {
      if (failing.next) throw new Error('planted');
      return cookie;
    },
  });
  await whileWatched(async ({ told }) => {
    touchMap('frontends', (map) => void map.delete(map.nextKey(undefined) ?? ONLY));
    const from = performance.now();
    while (told.length === 0 && performance.now() - from < DEADLINE_MS) await delay(5);
    failing.next = true;
    await assert.rejects(plane.inspect(DESIRED, 'reported'), /planted/);
    failing.next = false;
    const { right } = await plane.inspect(DESIRED, 'reported');
    assert.equal(right.size, 0);
  }, plane);
});

test('does not report its own writes, also while they are being written', async () => {
  const more = Array.from({ length: 4000 }, (_, n) =>
    rowOf(`s${n}`, {
      frontends: [clusterIp(`10.97.${n >> 8}.${n & 255}`)],
      endpoints: ['127.0.0.1:81'],
    }),
  );
  await whileWatched(async ({ plane, told }) => {
    const from = performance.now();
    while (performance.now() - from < 4000) {
      await plane.apply(more.map((row) => change('absent', row)));
      await plane.apply(more.map((row) => change(row, undefined)));
      await plane.configure(FACTS);
    }
    assert.deepEqual(told, []);
  });
});
