import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { median, quantile, quartilesOf, quartilesText } from './spread.ts';

describe('quartilesOf()', () => {
  it('takes the middle, or what is between the two in the middle', () => {
    assert.equal(quartilesOf([3, 1, 2]).median, 2);
    assert.equal(quartilesOf([4, 1, 2, 3]).median, 2.5);
  });

  it('gives the bounds of the middle half', () => {
    const { p25, p75, count } = quartilesOf([5, 4, 3, 2, 1]);
    assert.deepEqual([p25, p75, count], [2, 4, 5]);
    assert.equal(quartilesText(quartilesOf([5, 4, 3, 2, 1]), 1), '3.0 (2.0 to 4.0)');
  });

  it('throws without values', () => {
    assert.throws(() => quartilesOf([]), TypeError);
  });
});

describe('quantile() and median()', () => {
  it('take the value at or above the share, and the middle of two', () => {
    const values = [5, 1, 4, 2, 3, 6, 7, 8, 9, 10];
    assert.equal(quantile(values, 0.9), 9);
    assert.equal(quantile(values, 0.99), 10);
    assert.equal(median(values), 5.5);
    assert.equal(median([3, 1, 2]), 2);
  });

  it('are not a number without values', () => {
    assert.ok(Number.isNaN(median([])));
    assert.ok(Number.isNaN(quantile([], 0.5)));
  });
});
