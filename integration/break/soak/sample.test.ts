import assert from 'node:assert/strict';
import { it } from 'node:test';
import { quantileOf } from './sample.ts';

const INFINITE = Number.POSITIVE_INFINITY;

it('interpolates a quantile between the bounds of buckets, in milliseconds', () => {
  const buckets = new Map([
    [0.001, 50],
    [0.002, 100],
    [INFINITE, 100],
  ]);
  assert.equal(quantileOf(buckets, 0.75), 1.5);
  assert.equal(quantileOf(buckets, 0.5), 1);
});

it('gives the last bound for what is beyond it, and nothing without changes', () => {
  assert.equal(
    quantileOf(
      new Map([
        [0.5, 0],
        [INFINITE, 4],
      ]),
      0.99,
    ),
    500,
  );
  assert.equal(quantileOf(new Map([[INFINITE, 0]]), 0.99), null);
});
