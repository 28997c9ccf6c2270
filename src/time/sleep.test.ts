import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { sleep } from './sleep.ts';

const LONG_MS = 3_600_000;

test('ends at an abort, and leaves neither a timer nor a listener', async () => {
  const controller = new AbortController();
  const { signal } = controller;
  const slept = sleep(LONG_MS, signal);
  assert.equal(getEventListeners(signal, 'abort').length, 1);
  controller.abort('enough');
  await slept;
  assert.equal(getEventListeners(signal, 'abort').length, 0);
  assert.ok(!process.getActiveResourcesInfo().includes('Timeout'));
});

test('does not begin after an abort', async () => {
  await sleep(LONG_MS, AbortSignal.abort());
});

test('lasts at least as long as it was asked for', async () => {
  const begunMs = performance.now();
  await sleep(1.5, new AbortController().signal);
  assert.ok(performance.now() - begunMs >= 1.5);
});
