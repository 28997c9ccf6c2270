import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Choices, choose } from './choose.ts';

function listOf(...slots: readonly number[]): Choices {
  return { size: slots.length, slotAt: (index) => slots[index] ?? -1 };
}

function chosen(asked: {
  readonly slots: readonly number[];
  readonly open?: Readonly<Record<number, number>>;
  readonly avoided?: readonly number[];
  readonly tried?: readonly number[];
  readonly draws?: readonly number[];
}): number | undefined {
  const draws = [...(asked.draws ?? [0, 0])];
  const choice = {
    open: (slot: number) => asked.open?.[slot] ?? 0,
    isAvoided: (slot: number) => asked.avoided?.includes(slot) ?? false,
    random: () => draws.shift() ?? 0,
  };
  return choose(choice, listOf(...asked.slots), { tried: asked.tried, nowMs: 0 });
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
    const by = { open: () => 0, isAvoided: (slot: number) => avoided.includes(slot) };
    // Every start between 0 and 1, in an order without a pattern.
    let seed = 1;
    const random = () => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed / 2_147_483_647;
    };
    const list = listOf(...avoided, 8, 9, 10, 11);
    const times = new Map<number, number>();
    for (let turn = 0; turn < 4000; turn++) {
      const slot = choose({ ...by, random }, list, { tried: undefined, nowMs: 0 });
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
