import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { exponentOf, median, quantile, spreadOf } from './statistics.ts';

describe('quantile() and median()', () => {
  it('take the value at or above the share, and the middle of two', () => {
    const values = [5, 1, 4, 2, 3, 6, 7, 8, 9, 10];
    assert.equal(quantile(values, 0.9), 9);
    assert.equal(quantile(values, 0.99), 10);
    assert.equal(median(values), 5.5);
    assert.equal(median([3, 1, 2]), 2);
  });

  it('know nothing of nothing', () => {
    assert.ok(Number.isNaN(median([])));
    assert.equal(spreadOf([]), undefined);
  });
});

describe('exponentOf()', () => {
  const sizes = [500, 5_000, 25_000, 250_000];

  it('finds the power', () => {
    for (const power of [0, 0.5, 1, 2]) {
      const found = exponentOf(sizes.map((x) => ({ x, y: 3 * x ** power })));
      assert.ok(Math.abs((found ?? Number.NaN) - power) < 1e-9);
    }
  });

  it('draws no line through two points', () => {
    assert.equal(exponentOf(sizes.slice(0, 2).map((x) => ({ x, y: x }))), undefined);
  });
});
