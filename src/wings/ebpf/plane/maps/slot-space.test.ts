import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type SlotRange, SlotSpace, standardLength, unusedIn } from './slot-space.ts';

test('a freed range rests for a second before it is allocated again', () => {
  let nowMs = 0;
  const space = new SlotSpace({ capacity: 5, nowMs: () => nowMs });
  assert.equal(space.take(5), 0);
  space.giveBack({ first: 0, length: 5 });
  nowMs = 999;
  assert.equal(space.take(5), undefined);
  nowMs = 1000;
  assert.equal(space.take(5), 0);
});

test('a range that no program has seen is allocated again at once', () => {
  const space = new SlotSpace({ capacity: 5 });
  assert.equal(space.take(5), 0);
  space.giveBackUnused({ first: 0, length: 5 });
  assert.equal(space.take(5), 0);
});

test('does not allocate slots that are in use at the start', () => {
  const used = [
    { first: 4, length: 3 },
    { first: 0, length: 2 },
    { first: 40, length: 5 },
  ];
  const space = new SlotSpace({ capacity: 64, used });
  const taken = Array.from({ length: 70 }, () => space.take(1)).filter((at) => at !== undefined);
  assert.equal(taken.length, 64 - 10);
  assert.ok(taken.every((at) => !used.some((u) => at >= u.first && at < u.first + u.length)));
});

test('never allocates slots of one list to another, for any sequence', () => {
  const step = fc.record({ count: fc.integer({ min: 1, max: 60 }), frees: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      let nowMs = 0;
      const space = new SlotSpace({ capacity: 512, nowMs: () => nowMs });
      const held: SlotRange[] = [];
      for (const { count, frees } of steps) {
        nowMs += 600;
        const first = space.take(count);
        if (first !== undefined) {
          assert.ok(first + standardLength(count) <= 512);
          assert.ok(held.every((h) => first >= h.first + h.length || first + count <= h.first));
          held.push({ first, length: count });
        }
        if (frees && held.length > 0) space.giveBack(held.shift() as SlotRange);
      }
    }),
  );
});

test('passes resting ranges to the space that replaces it', () => {
  let nowMs = 0;
  const space = new SlotSpace({ capacity: 8, nowMs: () => nowMs });
  assert.equal(space.take(5), 0);
  space.giveBack({ first: 0, length: 5 });
  assert.deepEqual(space.restingRanges(), [{ first: 0, length: 5 }]);
  nowMs = 1000;
  assert.deepEqual(space.restingRanges(), []);
});

test('keeps resting ranges at rest when it gets more slots', () => {
  const space = new SlotSpace({ capacity: 5, nowMs: () => 0 });
  assert.equal(space.take(5), 0);
  space.giveBack({ first: 0, length: 5 });
  space.extendTo(10);
  assert.equal(space.take(5), 5);
  assert.equal(space.take(5), undefined);
});

test('leaves at most an eighth of a list unused', () => {
  for (let count = 1; count < 5000; count++) {
    const length = standardLength(count);
    assert.ok(length >= count && length <= count * 1.125 + 1, `${count} gets ${length}`);
    assert.equal(standardLength(length), length);
  }
});

test('finds every unused slot once in ranges that overlap each other and used ones', () => {
  const range = fc.record({ first: fc.nat(90), length: fc.integer({ min: 1, max: 40 }) });
  const ranges = fc.array(range, { maxLength: 5 });
  fc.assert(
    fc.property(ranges, ranges, (ranges, used) => {
      const slots = (each: readonly SlotRange[]) =>
        each.flatMap(({ first, length }) => Array.from({ length }, (_, at) => first + at));
      const padded = used.map(({ first, length }) => ({ first, length: standardLength(length) }));
      const found = unusedIn(ranges, { used, capacity: 100 });
      const free = new Set(slots(ranges)).difference(new Set(slots(padded)));
      const expected = [...free].filter((slot) => slot < 100);
      const byNumber = (a: number, b: number) => a - b;
      assert.deepEqual(slots(found).sort(byNumber), expected.sort(byNumber));
      assert.ok(found.every(({ length }) => standardLength(length) === length));
    }),
  );
});

test('merges the ranges that short lists have released for a long one', () => {
  let nowMs = 0;
  const space = new SlotSpace({ capacity: 8192, nowMs: () => nowMs });
  const short = { count: 17, taken: [] as SlotRange[] };
  for (;;) {
    const first = space.take(short.count);
    if (first === undefined) break;
    short.taken.push({ first, length: short.count });
  }
  assert.equal(short.taken.length, Math.floor(8192 / standardLength(short.count)));
  const [kept, ...left] = short.taken;
  for (const range of left) space.giveBack(range);
  assert.equal(space.take(5000), undefined, 'it rests');
  nowMs = 1000;
  const first = space.take(5000);
  assert.ok(first !== undefined && kept !== undefined);
  assert.ok(first >= standardLength(kept.length), 'what is in use stays');
  assert.ok(first + standardLength(5000) <= 8192);
});
