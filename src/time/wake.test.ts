import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { it } from 'node:test';
import type { Clock } from './clock.ts';
import { sleep } from './sleep.ts';
import { Wake } from './wake.ts';

/** A clock whose sleeps end when the test ends them, or on abort. */
class HeldTimers implements Clock {
  readonly ends: (() => void)[] = [];
  runningCount = 0;

  monotonicMs(): number {
    return 0;
  }

  wallMs(): number {
    return 0;
  }

  async sleep(_ms: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.runningCount++;
    this.ends.push(resolve);
    signal.addEventListener('abort', () => resolve(), { once: true });
    await promise;
    this.runningCount--;
  }
}

it('resolves at the call, at once when the call came before, and at the limit', async () => {
  const clock = new HeldTimers();
  const { signal } = new AbortController();
  const wake = new Wake();
  wake.call();
  await wake.wait(signal, { ms: 1_000, clock });
  assert.equal(clock.ends.length, 0);
  const called = wake.wait(signal, { ms: 1_000, clock });
  wake.call();
  await called;
  const late = wake.wait(signal, { ms: 1_000, clock });
  clock.ends.at(-1)?.();
  await late;
});

it('keeps the timer of a wait that a call ended, and cancels it at the next wait', async () => {
  const clock = new HeldTimers();
  const { signal } = new AbortController();
  const wake = new Wake();
  const first = wake.wait(signal, { ms: 1_000, clock });
  wake.call();
  await first;
  assert.equal(clock.runningCount, 1);
  let isOver = false;
  const second = wake.wait(signal, { ms: 1_000, clock }).then(() => {
    isOver = true;
  });
  await settled();
  assert.equal(clock.runningCount, 1);
  clock.ends[0]?.();
  await settled();
  assert.equal(isOver, false);
  wake.call();
  await second;
});

it('cancels its timer on abort, during a wait and between waits', async () => {
  for (const isWaiting of [true, false]) {
    const clock = new HeldTimers();
    const stop = new AbortController();
    const wake = new Wake();
    const wait = wake.wait(stop.signal, { ms: 1_000, clock });
    if (!isWaiting) {
      wake.call();
      await wait;
    }
    stop.abort();
    await wait;
    await settled();
    assert.equal(clock.runningCount, 0);
  }
});

it('without a limit keeps a call until the next wait, and counts several calls as one', async () => {
  const wake = new Wake();
  const { signal } = new AbortController();
  wake.call();
  wake.call();
  await wake.wait(signal);
  let isAwake = false;
  const waiting = wake.wait(signal).then(() => {
    isAwake = true;
  });
  await sleep(1, signal);
  assert.equal(isAwake, false);
  wake.call();
  await waiting;
});

it('a wait and a sleep end on abort and leave no listener on the signal', async () => {
  const stop = new AbortController();
  const wake = new Wake();
  const waits = [wake.wait(stop.signal), sleep(60_000, stop.signal)];
  stop.abort();
  await Promise.all(waits);
  await Promise.all([wake.wait(stop.signal), sleep(60_000, stop.signal)]);
  assert.equal(getEventListeners(stop.signal, 'abort').length, 0);
});

it('a wait that a call ended leaves no listener on the signal, without a limit', async () => {
  const { signal } = new AbortController();
  const wake = new Wake();
  const waiting = wake.wait(signal);
  wake.call();
  await waiting;
  assert.equal(getEventListeners(signal, 'abort').length, 0);
});

function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
