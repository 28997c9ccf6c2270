import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Flow } from '../../linux/conntrack/flow.ts';
import type { NewFlowListener } from '../../linux/top/new-flows.ts';
import { EventTap } from './event-tap.ts';

/** Its fields are of no interest to a tap. */
const FLOW = {} as Flow;

function opened(most = 3) {
  const stop = new AbortController();
  const listeners: NewFlowListener[] = [];
  let open = 0;
  const problems: unknown[] = [];
  let flows = 0;
  const tap = new EventTap({
    listen: async (listener, signal) => {
      listeners.push(listener);
      open += 1;
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      open -= 1;
    },
    onFlow: () => {
      flows += 1;
    },
    most,
    onProblem: (error) => problems.push(error),
  });
  tap.open(stop.signal);
  const hear = (count: number): void => {
    for (let index = 0; index < count; index++) listeners.at(-1)?.onFlow(FLOW);
  };
  const state = () => ({ open, flows, sockets: listeners.length });
  return { tap, hear, state, signal: stop.signal, listeners };
}

it('hears everything below its limit', () => {
  const { tap, hear, signal, state } = opened();
  hear(2);
  assert.deepEqual(tap.take(signal), { isComplete: true, count: 2 });
  hear(1);
  assert.deepEqual(tap.take(signal), { isComplete: true, count: 1 });
  assert.equal(state().sockets, 1);
});

it('stops listening in a flood, says so, and listens again with the next tick', async () => {
  const { tap, hear, signal, state } = opened();
  hear(3);
  await Promise.resolve();
  assert.equal(state().open, 0);
  assert.deepEqual(tap.take(signal), { isComplete: false, count: 3 });
  assert.deepEqual([state().open, state().sockets], [1, 2]);
  hear(1);
  assert.deepEqual(tap.take(signal), { isComplete: true, count: 1 });
});

it('is not complete when the kernel lost events', () => {
  const { tap, hear, signal, listeners } = opened();
  hear(1);
  listeners[0]?.onOverrun();
  assert.equal(tap.take(signal).isComplete, false);
  assert.equal(tap.take(signal).isComplete, true);
});

it('reports why it cannot listen, and tries no more', async () => {
  const stop = new AbortController();
  const problems: unknown[] = [];
  let calls = 0;
  const tap = new EventTap({
    listen: async () => {
      calls += 1;
      throw new Error('EPERM');
    },
    onFlow: () => undefined,
    most: 1,
    onProblem: (error) => problems.push(error),
  });
  tap.open(stop.signal);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(tap.take(stop.signal).isComplete, false);
  assert.deepEqual([problems.length, calls], [1, 1]);
});
