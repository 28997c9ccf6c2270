import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, afterEach, test } from 'node:test';
import { change } from '../../../src/dataplanes/shared/testing/plane-change.ts';
import { type Forwarding, servicePortKey } from '../../../src/forwarding/model.ts';
import type { BpfMap } from '../../../src/linux/ebpf/map.ts';
import { openPinnedMap } from '../../../src/linux/ebpf/map-create.ts';
import type { HooksPlane } from '../../../src/wings/ebpf/plane/hooks-plane.ts';
import { frontendOfKey, wordsOf } from '../../../src/wings/ebpf/plane/maps/entry-text.ts';
import { readAddress, SLOT } from '../../../src/wings/ebpf/plane/maps/layout.ts';
import { testPlace } from '../../../src/wings/ebpf/plane/testing/ebpf-place.ts';
import { clusterIp, FACTS, rowOf } from '../../../src/wings/ebpf/plane/testing/ebpf-rows.ts';
import { MapFailures } from '../../break/faults/plane/failing-maps.ts';

const ROWS = 8;
const CHANGES = 150;
const SHARE = 0.1;
const MOST_LOOKS = 1000;
const MOST_ENDPOINTS = 6;

const place = testPlace('failing');

afterEach(() => place.newPlane().remove());
after(() => place.leave());

/** The same numbers for the same seed (a linear congruential generator). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Endpoints say whose they are, which version of it, and of how many: 127.ROW.VERSION.COUNT. */
function version(row: number, serial: number, count: number): Forwarding {
  const addresses = [`10.96.0.${row}`, `10.96.1.${row}`];
  return rowOf(`s${row}`, {
    frontends: addresses.map((address) => clusterIp(address)),
    endpoints: Array.from(
      { length: count },
      (_, at) => `127.${row}.${serial % 250}.${count}:${at + 1}`,
    ),
  });
}

/** What a connection could meet now: every frontend leads to one whole version of its own row. */
function assertWhole(frontends: BpfMap, slots: BpfMap): void {
  for (let key = frontends.nextKey(undefined); key; key = frontends.nextKey(key)) {
    const row = frontendOfKey(key).address?.split('.')[3];
    const value = frontends.lookup(key);
    const [{ first, count } = { first: 0, count: 0 }] = value ? wordsOf(value) : [];
    const found = Array.from({ length: count }, (_, at) => {
      const slotKey = Buffer.alloc(4);
      slotKey.writeUInt32LE(first + at);
      const slot = slots.lookup(slotKey) ?? Buffer.alloc(SLOT.bytes);
      return `${readAddress(slot, SLOT.address)}:${slot.readUInt16BE(SLOT.port)}`;
    });
    const serial = found[0]?.split('.')[2];
    const whole = Array.from(
      { length: count },
      (_, at) => `127.${row}.${serial}.${count}:${at + 1}`,
    );
    assert.deepEqual(found, whole);
  }
}

/** Like the agent: inspects rejected rows and writes them again. Returns the number of retries. */
async function bring(plane: HooksPlane, rows: readonly Forwarding[]): Promise<number> {
  for (let looks = 1; looks < MOST_LOOKS; looks++) {
    try {
      const { right } = await plane.inspect({ facts: FACTS, rows }, 'everything');
      const wrong = rows.filter(({ id }) => !right.has(servicePortKey(id)));
      await plane.apply(wrong.map((row) => change('unknown', row)));
      return looks;
    } catch (error) {
      assert.match(String(error), /planted/);
    }
  }
  assert.fail('never taken');
}

for (const seed of [1, 2, 3]) {
  test(`every tenth write fails, and no state in between has half a row (seed ${seed})`, async (t) => {
    const random = randomOf(seed);
    const pinned = (name: string): BpfMap => openPinnedMap(join(place.pins, 'fairlead/maps', name));
    await place.newPlane().inspect({ facts: FACTS, rows: [] }, 'everything');
    const [frontends, slots] = [pinned('frontends'), pinned('slots')];
    let states = 0;
    const failures = new MapFailures(SHARE, {
      random,
      onWrite: () => {
        states += 1;
        assertWhole(frontends, slots);
      },
    });
    const plane = place.newPlane({ openTables: (maps) => failures.tables(maps) });
    const rows = new Map(Array.from({ length: ROWS }, (_, n) => [n, version(n, 0, 1)]));
    let looks = await bring(plane, [...rows.values()]);
    for (let serial = 1; serial <= CHANGES; serial++) {
      const n = Math.floor(random() * ROWS);
      const before = rows.get(n);
      const next =
        random() < 0.2 ? undefined : version(n, serial, 1 + Math.floor(random() * MOST_ENDPOINTS));
      if (next) rows.set(n, next);
      else rows.delete(n);
      if (!before && !next) continue;
      try {
        await plane.apply([change(before ?? 'absent', next)]);
      } catch (error) {
        assert.match(String(error), /planted/);
        looks += await bring(plane, [...rows.values()]);
      }
    }
    assert.deepEqual(await place.newPlane().diff({ facts: FACTS, rows: [...rows.values()] }), []);
    const { callCount, failedCount } = failures;
    assert.ok(failedCount > callCount * (SHARE / 2), `${failedCount} of ${callCount} failed`);
    t.diagnostic(
      `${failedCount} of ${callCount} writes failed, ${states} states seen, ${looks} looks`,
    );
    frontends.close();
    slots.close();
  });
}
