import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Random } from './random.ts';

describe('Random', () => {
  it('repeats itself with the same seed, and only with it', () => {
    const numbers = (seed: number): number[] => {
      const random = new Random(seed);
      return Array.from({ length: 50 }, () => random.below(1_000));
    };
    assert.deepEqual(numbers(7), numbers(7));
    assert.notDeepEqual(numbers(7), numbers(8));
  });

  it('stays between its bounds and reaches both', () => {
    const random = new Random(1);
    const found = new Set(Array.from({ length: 500 }, () => random.between(3, 6)));
    assert.deepEqual([...found].sort(), [3, 4, 5, 6]);
  });

  it('shuffles without losing anything', () => {
    assert.deepEqual(new Random(3).shuffled([1, 2, 3, 4]).toSorted(), [1, 2, 3, 4]);
  });
});
