import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { quartilesOf, quartilesText } from './spread.ts';

describe('quartilesOf()', () => {
  it('takes the middle, or what is between the two in the middle', () => {
    assert.equal(quartilesOf([3, 1, 2]).median, 2);
    assert.equal(quartilesOf([4, 1, 2, 3]).median, 2.5);
  });

  it('tells where the middle half is', () => {
    const { p25, p75, count } = quartilesOf([5, 4, 3, 2, 1]);
    assert.deepEqual([p25, p75, count], [2, 4, 5]);
    assert.equal(quartilesText(quartilesOf([5, 4, 3, 2, 1]), 1), '3.0 (2.0 to 4.0)');
  });

  it('refuses to make something of nothing', () => {
    assert.throws(() => quartilesOf([]), TypeError);
  });
});
