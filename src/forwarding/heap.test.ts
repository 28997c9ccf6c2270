import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Heap } from './heap.ts';

test('pops everything that was pushed, the least first', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 50 })), (times) => {
      const heap = new Heap<number>((a, b) => a < b);
      for (const atMs of times) heap.push(atMs);
      const given: number[] = [];
      for (let first = heap.first; first !== undefined; first = heap.first) {
        given.push(first);
        assert.equal(heap.pop(), first);
      }
      assert.deepEqual(
        given,
        times.toSorted((a, b) => a - b),
      );
    }),
  );
});
