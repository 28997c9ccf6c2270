import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stolenSeconds } from './stolen.ts';

test('is the mean of what the host took from each processor', () => {
  const stat = 'cpu  1 2 3 4 5 6 7 600 0 0\ncpu0 1 2 3 4 5 6 7 400 0\ncpu1 1 2 3 4 5 6 7 200 0\n';
  assert.equal(stolenSeconds(stat), 3);
  assert.equal(stolenSeconds('intr 1 2\n'), 0);
  assert.ok(stolenSeconds() >= 0);
});
