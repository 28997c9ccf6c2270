import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { change } from '../../../dataplanes/shared/testing/plane-change.ts';
import type { Forwarding } from '../../../forwarding/model.ts';
import { clusterIp, FACTS, type RowRecipe, row } from './testing/ipvs-rows.ts';
import { Stage } from './testing/ipvs-stage.ts';
import { Chance } from './testing/random-rows.ts';

/** Half of it is 50: a row of `port` is a virtual server with two destinations, 3. */
const MOST_WEIGHT = 100;

function port(
  number: number,
  wanted: RowRecipe & { readonly namespace?: string } = {},
): Forwarding {
  const { namespace = 'flood', ...recipe } = wanted;
  const made = row({ name: `s${number}`, frontends: [clusterIp(number)], ...recipe });
  return { ...made, id: { ...made.id, namespace } };
}

const many = (count: number, recipe: RowRecipe = {}) =>
  Array.from({ length: count }, (_, at) => port(at + 1, recipe));
const stageWith = (parts: Partial<Stage> = {}) => new Stage({ ...parts, mostWeight: MOST_WEIGHT });
const added = (rows: readonly Forwarding[]) => rows.map((each) => change('absent', each));

describe('rows of a namespace beyond its share of IPVS', () => {
  test('are left to the plane behind, and those of another namespace are served', async () => {
    const stage = await stageWith().start();
    await stage.plane.apply(added(many(30)));
    assert.equal(stage.capture.captured.size, 16);
    assert.equal(stage.ipvs.held.size, 16);
    await stage.plane.apply(added([port(99, { namespace: 'other' })]));
    assert.ok(stage.capture.captured.has('10.96.0.99 TCP 80'));
  });

  test('are fewer with a table for each virtual server', async () => {
    const scheduler = { name: 'mh', flags: [] };
    const stage = await new Stage({ mostWeight: 1000 }).start();
    await stage.plane.apply(added(many(30, { scheduler })));
    assert.equal(stage.capture.captured.size, 7);
  });

  test('are served when they change and there is room again', async () => {
    const stage = await stageWith().start();
    const [first, ...rest] = many(17);
    const last = rest.at(-1);
    assert.ok(first && last);
    await stage.plane.apply(added([first, ...rest]));
    assert.equal(stage.capture.captured.size, 16);
    await stage.plane.apply([change(first, undefined)]);
    const changed = { ...last, affinitySeconds: 60 };
    await stage.plane.apply([change(last, changed)]);
    assert.ok(stage.capture.captured.has('10.96.0.17 TCP 80'));
    await stage.plane.apply([change(changed, undefined)]);
    await stage.plane.deleteDrained();
    assert.equal(stage.capture.captured.size, 15);
    assert.equal(stage.ipvs.held.size, 15);
  });

  test('give up what they have when they grow, and drain', async () => {
    const rows = many(16);
    const stage = await stageWith().start(rows);
    const [first] = rows;
    assert.ok(first);
    const larger = port(1, { endpoints: [1, 2, 3, 4, 5, 6] });
    await stage.plane.apply([change(first, larger)]);
    assert.ok(!stage.capture.captured.has('10.96.0.1 TCP 80'));
    await stage.plane.deleteDrained();
    assert.equal(stage.ipvs.held.size, 15);
    await stage.plane.apply([change(larger, port(1, { endpoints: [1] }))]);
    assert.ok(stage.capture.captured.has('10.96.0.1 TCP 80'));
  });

  test('are no difference, and a restart leaves as many to the plane behind', async () => {
    const { ipvs, capture, plane } = await stageWith().start(many(10));
    const others = many(8).map(({ id, ...each }) => ({
      ...each,
      id: { ...id, namespace: 'a-other', service: `${id.service}-more` },
      frontends: [clusterIp(100 + Number(id.service.slice(1)))],
    }));
    await plane.apply(added(others));
    const rows = [...others, ...many(30)];
    const restarted = await stageWith({ ipvs, capture }).start(rows);
    assert.equal(capture.captured.size, 8 + 12);
    const again = stageWith({ ipvs, capture });
    assert.deepEqual(await again.plane.diff({ facts: FACTS, rows }), []);
    const found = await again.plane.inspect({ facts: FACTS, rows }, 'everything');
    assert.deepEqual([found.right.size, found.differences], [rows.length, []]);
    assert.deepEqual(again.written, []);
    assert.equal((await restarted.plane.report()).declined?.rowCount, 18);
  });

  test('are named in the report, by namespace', async () => {
    const stage = await stageWith().start();
    assert.equal((await stage.plane.report()).declined, undefined);
    await stage.plane.apply(added(many(20)));
    assert.deepEqual((await stage.plane.report()).declined, {
      rowCount: 4,
      namespaces: [{ name: 'flood', rowCount: 4 }],
    });
  });

  test('are never more than the bound, whatever changes and fails', async () => {
    for (let seed = 1; seed <= 30; seed++) {
      const chance = new Chance(seed);
      const stage = await stageWith().start();
      const applied = new Map<string, Forwarding | 'unknown'>();
      for (let at = 0; at < 60; at++) {
        const endpoints = Array.from({ length: 1 + chance.below(9) }, (_, n) => n + 1);
        const number = chance.below(40);
        const next = port(number, { namespace: `n${number % 3}`, endpoints });
        const key = `n${number % 3}/s${number}/TCP/IPv4`;
        const before = applied.get(key) ?? 'absent';
        const after = chance.is(4) ? undefined : next;
        stage.capture.isRejected = () => chance.is(20);
        try {
          await stage.plane.apply([{ key, id: next.id, before, after }]);
          if (after) applied.set(key, after);
          else applied.delete(key);
        } catch {
          applied.set(key, 'unknown');
        }
        stage.capture.isRejected = () => false;
        await stage.plane.deleteDrained();
        const held = [...stage.ipvs.held].filter(([id]) => stage.capture.captured.has(id));
        const weight = held.reduce((sum, [, each]) => sum + 1 + each.destinations.size, 0);
        assert.ok(weight <= MOST_WEIGHT, `${weight}, seed ${seed}, step ${at}`);
      }
      for (const [key, before] of applied) {
        const after = port(Number(key.split('/')[1]?.slice(1)), { namespace: key.slice(0, 2) });
        await stage.plane.apply([{ key, id: after.id, before, after }]);
      }
      await stage.plane.deleteDrained();
      assert.equal(stage.ipvs.held.size, stage.capture.captured.size, `left over, seed ${seed}`);
    }
  });
});
