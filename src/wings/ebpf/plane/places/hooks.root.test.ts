import assert from 'node:assert/strict';
import { existsSync, mkdirSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, test } from 'node:test';
import { programsOnCgroup } from '../../../../linux/ebpf/enumerate.ts';
import { Pins } from '../pins.ts';
import { testPlace } from '../testing/ebpf-place.ts';
import { FACTS } from '../testing/ebpf-rows.ts';
import { attachTypeOf, HOOK_NAMES } from './hook-names.ts';

const place = testPlace('attached');
const NOTHING = { facts: FACTS, rows: [] };

afterEach(() => place.newPlane().remove());
after(() => place.leave());

/** How many programs are at each hook, where it is not one. */
function notOne(): string[] {
  return HOOK_NAMES.flatMap((name) => {
    const { length } = programsOnCgroup(place.cgroupFd, attachTypeOf(name));
    return length === 1 ? [] : [`${name}: ${length}`];
  });
}

test('detaches programs that were attached with other pins', async () => {
  await place.newPlane({ folder: 'before' }).inspect(NOTHING, 'everything');
  const plane = place.newPlane();
  const { differences } = await plane.inspect(NOTHING, 'everything');
  assert.deepEqual(notOne(), []);
  assert.ok(differences.some(({ kind }) => kind === 'foreign'));
  assert.deepEqual(await plane.diff(NOTHING), []);
});

test('reports which hooks have a program', async () => {
  const plane = place.newPlane();
  const attached = async (): Promise<string[]> =>
    (await plane.attachments()).flatMap((each) => (each.isAttached ? [each.name] : []));
  assert.deepEqual(await attached(), []);
  await plane.inspect(NOTHING, 'everything');
  assert.deepEqual(await attached(), [...HOOK_NAMES]);
  const link = new Pins(join(place.pins, 'fairlead')).link('connect6');
  link?.detach();
  link?.close();
  assert.deepEqual(
    await attached(),
    HOOK_NAMES.filter((name) => name !== 'connect6'),
  );
});

test('detaches programs whose pins are not visible', async () => {
  await place.newPlane({ folder: 'before' }).inspect(NOTHING, 'everything');
  await place.newPlane().remove();
  assert.deepEqual(
    notOne(),
    HOOK_NAMES.map((name) => `${name}: 0`),
  );
});

test('names a removed cgroup in errors, and leaves nothing of its hooks', async () => {
  const cgroup = join(place.cgroup, 'gone');
  mkdirSync(cgroup);
  const plane = place.newPlane({ cgroup });
  await plane.inspect(NOTHING, 'everything');
  rmdirSync(cgroup);
  await assert.rejects(plane.inspect(NOTHING, 'everything'), { code: 'CGROUP_MISSING' });
  await plane.remove();
  assert.equal(existsSync(join(place.pins, 'fairlead')), false);
});

test('creates pins again that were removed with their folder', async () => {
  const plane = place.newPlane();
  await plane.inspect(NOTHING, 'everything');
  rmSync(join(place.pins, 'fairlead'), { recursive: true });
  await plane.inspect(NOTHING, 'everything');
  assert.deepEqual(await place.newPlane().diff(NOTHING), []);
  assert.deepEqual(notOne(), []);
});
