import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, afterEach, test } from 'node:test';
import { change } from '../../../../dataplanes/shared/testing/plane-change.ts';
import { openPinnedLink } from '../../../../linux/ebpf/bpf-link.ts';
import type { BpfObject, ObjectProgram } from '../../../../linux/ebpf/bpf-object.ts';
import { programsOnCgroup } from '../../../../linux/ebpf/enumerate.ts';
import { attachTypeOf, HOOK_NAMES } from '../places/hook-names.ts';
import { testPlace } from '../testing/ebpf-place.ts';
import { clusterIp, FACTS, rowOf } from '../testing/ebpf-rows.ts';

const ROOM = 8;

const place = testPlace('growth');
const ROWS = Array.from({ length: 2 * ROOM }, (_, n) =>
  rowOf(`s${n}`, { frontends: [clusterIp(`10.96.0.${n}`)], endpoints: [`127.0.0.1:${n + 1}`] }),
);
const CHANGES = ROWS.map((row) => change('absent', row));
const DESIRED = { facts: FACTS, rows: ROWS };

afterEach(() => place.newPlane().remove());
after(() => place.leave());

/** The object with small maps, and programs that a test can remove. */
function smallObject(): BpfObject & { programs: ObjectProgram[] } {
  const maps = place.object.maps.map((map) => {
    const isSmall = map.name === 'frontends' || map.name === 'slots';
    return isSmall ? { ...map, maxEntries: ROOM } : map;
  });
  return { ...place.object, maps, programs: [...place.object.programs] };
}

test('grows maps under hooks when one of them is detached', async () => {
  const plane = place.newPlane({ object: smallObject() });
  await plane.inspect({ facts: FACTS, rows: [] }, 'everything');
  const last = HOOK_NAMES.at(-1) ?? 'connect4';
  const link = openPinnedLink(join(place.pins, 'fairlead/links', last));
  link.detach();
  link.close();
  await plane.apply(CHANGES);
  assert.equal(programsOnCgroup(place.cgroupFd, attachTypeOf(last)).length, 1);
  assert.deepEqual(await place.newPlane().diff(DESIRED), []);
});

test('changes nothing when growth fails, and grows when it can', async () => {
  const object = smallObject();
  const plane = place.newPlane({ object });
  await plane.inspect({ facts: FACTS, rows: [] }, 'everything');
  const programs = object.programs.splice(0);
  await assert.rejects(plane.apply(CHANGES), { code: 'BPF_OBJECT_INVALID' });
  await plane.apply(CHANGES.slice(0, 2));
  assert.deepEqual(await place.newPlane().diff({ facts: FACTS, rows: ROWS.slice(0, 2) }), []);
  object.programs.push(...programs);
  await plane.apply(CHANGES.slice(2));
  assert.deepEqual(await place.newPlane().diff(DESIRED), []);
});

test('completes a read of the maps while they grow', async () => {
  const plane = place.newPlane({ object: smallObject() });
  await plane.inspect({ facts: FACTS, rows: [] }, 'everything');
  await plane.apply(CHANGES.slice(0, 2));
  const growing = plane.apply(CHANGES.slice(2));
  let isGrown = false;
  const grown = growing.finally(() => {
    isGrown = true;
  });
  const readings = [];
  while (!isGrown) {
    readings.push(plane.counters());
    await Promise.resolve();
  }
  await grown;
  assert.ok((await Promise.all(readings)).length > 0);
  assert.equal((await plane.counters()).length, ROWS.length);
});
