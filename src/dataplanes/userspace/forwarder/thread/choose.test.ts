import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { choose } from './choose.ts';
import { List, Lists } from './lists.ts';

function listOf(...slots: readonly number[]): List {
  const list = new List(1);
  for (const slot of slots) list.add({ slot, address: `10.0.0.${slot}`, port: 80 });
  return list;
}

function chosen(of: {
  readonly slots: readonly number[];
  readonly open?: Readonly<Record<number, number>>;
  readonly avoided?: readonly number[];
  readonly tried?: readonly number[];
  readonly draws?: readonly number[];
}): number | undefined {
  const draws = [...(of.draws ?? [0, 0])];
  const choice = {
    counts: { open: (slot: number) => of.open?.[slot] ?? 0 },
    avoidance: { isAvoided: (slot: number) => of.avoided?.includes(slot) ?? false },
    random: () => draws.shift() ?? 0,
  };
  return choose(choice, listOf(...of.slots), { tried: of.tried, nowMs: 0 })?.slot;
}

describe('choice of an endpoint', () => {
  it('takes the one with fewer open connections of two drawn', () => {
    const open = { 1: 5, 2: 4, 3: 0 };
    assert.equal(chosen({ slots: [1, 2, 3], open, draws: [0, 0.4] }), 2);
    assert.equal(chosen({ slots: [1, 2, 3], open, draws: [0.4, 0] }), 2);
    assert.equal(chosen({ slots: [1, 2, 3], open, draws: [0, 0] }), 1);
  });

  it('passes over one that is avoided, unless no other is left', () => {
    assert.equal(chosen({ slots: [1, 2], avoided: [1], open: { 2: 99 } }), 2);
    assert.equal(chosen({ slots: [1, 2], avoided: [1], tried: [2] }), 1);
    assert.equal(chosen({ slots: [1, 2], avoided: [1, 2], draws: Array(9).fill(0.9) }), 2);
  });

  it('spreads evenly over those that are not avoided, however many are side by side', () => {
    const avoided = Array.from({ length: 8 }, (_, slot) => slot);
    const counts = { open: () => 0 };
    const avoidance = { isAvoided: (slot: number) => avoided.includes(slot) };
    // Every start between 0 and 1, in an order without a pattern.
    let seed = 1;
    const random = () => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed / 2_147_483_647;
    };
    const list = listOf(...avoided, 8, 9, 10, 11);
    const times = new Map<number, number>();
    for (let turn = 0; turn < 4000; turn++) {
      const slot = choose({ counts, avoidance, random }, list, {
        tried: undefined,
        nowMs: 0,
      })?.slot;
      times.set(slot ?? -1, (times.get(slot ?? -1) ?? 0) + 1);
    }
    // Some are found by a search from a random place, which favours the first one.
    for (const slot of [8, 9, 10, 11]) assert.ok((times.get(slot) ?? 0) > 850, `${slot}`);
  });

  it('never takes one that was tried', () => {
    assert.equal(chosen({ slots: [1, 2, 3], tried: [1, 3] }), 2);
    assert.equal(chosen({ slots: [1, 2], tried: [1, 2] }), undefined);
    assert.equal(chosen({ slots: [] }), undefined);
  });
});

describe('a list of endpoints', () => {
  it('finds and removes endpoints by slot', () => {
    const list = listOf(1, 2, 3);
    list.remove(1);
    list.remove(9);
    assert.deepEqual(list.endpoints.map(({ slot }) => slot).toSorted(), [2, 3]);
    assert.deepEqual(
      list.endpoints.map(({ index }) => index),
      [0, 1],
    );
    assert.equal(list.withSlot(1), undefined);
    assert.equal(list.withSlot(3)?.address, '10.0.0.3');
    list.remove(3);
    list.remove(2);
    assert.equal(list.endpoints.length, 0);
  });

  it('is empty for those that still have it when it is gone', () => {
    const lists = new Lists();
    const list = lists.get(1);
    list.add({ slot: 1, address: '10.0.0.1', port: 80 });
    lists.delete(1);
    assert.deepEqual(list.endpoints, []);
    assert.equal(list.withSlot(1), undefined);
  });
});
