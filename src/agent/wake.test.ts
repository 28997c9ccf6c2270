import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Clock } from '../cluster/clock.ts';
import { Wake } from './wake.ts';

/** Timers that end when a test says so, or when they are ended. */
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

it('resolves at the call, at once when it came before, and after the time', async () => {
  const clock = new HeldTimers();
  const { signal } = new AbortController();
  const wake = new Wake();
  wake.call();
  await wake.wait(1_000, { clock, signal });
  assert.equal(clock.ends.length, 0);
  const called = wake.wait(1_000, { clock, signal });
  wake.call();
  await called;
  const late = wake.wait(1_000, { clock, signal });
  clock.ends.at(-1)?.();
  await late;
});

it('the timer of a wait that a call has ended wakes nobody, and ends with the next wait', async () => {
  const clock = new HeldTimers();
  const { signal } = new AbortController();
  const wake = new Wake();
  const first = wake.wait(1_000, { clock, signal });
  wake.call();
  await first;
  assert.equal(clock.runningCount, 1);
  let isOver = false;
  const second = wake.wait(1_000, { clock, signal }).then(() => {
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

it('no timer goes on when everything ends, whether somebody waits or not', async () => {
  for (const isWaiting of [true, false]) {
    const clock = new HeldTimers();
    const stop = new AbortController();
    const wake = new Wake();
    const wait = wake.wait(1_000, { clock, signal: stop.signal });
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

function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
