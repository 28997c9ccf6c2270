import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseSlot } from './choice.ts';
import type { Row } from './row-store.ts';
import { ServedList } from './served-list.ts';

function listOf(slots: readonly number[]): ServedList {
  const list = new ServedList(1, {} as Row, 'cluster');
  for (const slot of slots) list.add(slot);
  return list;
}

test('spreads clients over the endpoints also while all of them are avoided', () => {
  const list = listOf([1, 2, 3, 4]);
  let seed = 1;
  const random = () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  const slots = { open: () => 0, avoidedUntil: () => 100 };
  const chosen = new Set<number | undefined>();
  for (let client = 0; client < 100; client++) {
    chosen.add(chooseSlot(list, [3], { slots, random, nowMs: () => 0 }));
  }
  assert.deepEqual(chosen, new Set([1, 2, 4]));
});

test('finds the only one that can be used', () => {
  const list = listOf([1, 2, 3, 4]);
  const slots = { open: () => 0, avoidedUntil: (slot: number) => (slot === 2 ? 0 : 100) };
  assert.equal(chooseSlot(list, [], { slots, random: () => 0.9, nowMs: () => 0 }), 2);
  assert.equal(
    chooseSlot(list, [1, 2, 3, 4], { slots, random: () => 0.9, nowMs: () => 0 }),
    undefined,
  );
});
