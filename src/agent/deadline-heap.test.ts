import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DeadlineHeap } from './deadline-heap.ts';

test('gives everything that was pushed, the earliest first', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 50 })), (times) => {
      const heap = new DeadlineHeap<number>();
      for (const atMs of times) heap.push(atMs, atMs);
      const given: number[] = [];
      for (let first = heap.first; first !== undefined; first = heap.first) {
        given.push(first.what);
        heap.shift();
      }
      assert.deepEqual(
        given,
        times.toSorted((a, b) => a - b),
      );
    }),
  );
});
