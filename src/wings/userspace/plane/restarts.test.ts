import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Restarts } from './restarts.ts';

test('starts at once after the first end, then ever later up to 30 s', () => {
  const restarts = new Restarts();
  const delays = Array.from({ length: 8 }, (_, index) => {
    restarts.ended(index * 100);
    return restarts.retryAtMs - index * 100;
  });
  assert.deepEqual(delays, [0, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
});

test('starts at once again after a minute without an end', () => {
  const restarts = new Restarts();
  for (const atMs of [0, 1000, 2000]) restarts.ended(atMs);
  restarts.ended(62_000);
  assert.equal(restarts.retryAtMs, 62_000);
});

test('waits after a start that failed', () => {
  const restarts = new Restarts();
  restarts.notStarted(0);
  assert.equal(restarts.retryAtMs, 1000);
});
