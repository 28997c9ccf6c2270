import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type LifeOptions, ProcessLife } from './process-life.ts';
import { testDirectory } from './testing/directories.ts';

/** A life whose threads have as many connections as the test says, and whose sleeps end at once. */
function lived(options: Partial<LifeOptions> = {}) {
  const stop = new AbortController();
  const state = {
    open: 0,
    clients: 0,
    sleeps: 0,
    accepting: [] as boolean[],
    lines: [] as string[],
  };
  const ends: [code: number, final: boolean][] = [];
  const log = (message: string) => void state.lines.push(message);
  const threads = {
    pulse: async () => state.open,
    setAccepting: async (accepts: boolean) => void state.accepting.push(accepts),
  };
  const life = new ProcessLife({
    directory: testDirectory().directory,
    threads: threads as unknown as LifeOptions['threads'],
    names: { takeOver: () => undefined } as unknown as LifeOptions['names'],
    log: { info: log, warn: log, error: log },
    nowMs: () => 0,
    clientCount: () => state.clients,
    end: async (code, final) => {
      ends.push([code, final]);
      stop.abort();
    },
    keepRoutes: async () => undefined,
    signal: stop.signal,
    idleMs: 0,
    ...options,
  });
  /** Until it ends, or so many times. */
  const run = async (most: number, onSleep: () => void = () => undefined) => {
    state.sleeps = 0;
    await life.run(async () => {
      onSleep();
      // Time passes, so that deadlines of zero are over.
      await new Promise((resolve) => setTimeout(resolve, 1));
      if (++state.sleeps > most) stop.abort();
    });
  };
  return { life, state, ends, run };
}

test('ends without an agent and without connections, and not with either', async () => {
  const idle = lived();
  await idle.run(10);
  assert.deepEqual(idle.ends, [[0, false]]);
  const withAgent = lived();
  withAgent.state.clients = 1;
  await withAgent.run(10);
  assert.deepEqual(withAgent.ends, []);
  const withConnection = lived();
  withConnection.state.open = 1;
  await withConnection.run(10);
  assert.deepEqual(withConnection.ends, []);
});

test('accepts from the take-over on, and not again after it was told to drain', async () => {
  const { life, state, run } = lived();
  assert.deepEqual(state.accepting, []);
  await life.takeOver('');
  await life.takeOver('');
  assert.deepEqual(state.accepting, [true]);
  await life.drain(0, false);
  await life.takeOver('');
  await run(10);
  assert.deepEqual(state.accepting, [true, false]);
  assert.equal(life.isDraining, true);
});

test('accepts what is on its way when it is told to drain, and does not end before', async () => {
  const { life, state, ends, run } = lived({ handshakeMs: 50 });
  await life.takeOver('');
  const begunMs = performance.now();
  await life.drain(60_000, true);
  let stoppedAfterMs = 0;
  await run(1000, () => {
    if (state.accepting.length === 2) stoppedAfterMs ||= performance.now() - begunMs;
  });
  assert.deepEqual(state.accepting, [true, false]);
  assert.deepEqual(ends, [[0, true]]);
  assert.ok(stoppedAfterMs >= 50, `${stoppedAfterMs} ms`);
});

test('drains until the last connection has ended', async () => {
  const { life, state, ends, run } = lived();
  state.open = 2;
  await life.drain(60_000, true);
  await run(10, () => {
    if (state.sleeps === 5) state.open = 0;
  });
  assert.equal(state.sleeps, 6);
  assert.deepEqual(ends, [[0, true]]);
  assert.deepEqual(state.lines, []);
});

test('ends at the deadline of a drain, with connections open', async () => {
  const { life, state, ends, run } = lived();
  state.open = 2;
  await life.drain(0, false);
  await run(10);
  assert.deepEqual(ends, [[0, false]]);
  assert.deepEqual(state.lines, ['drain deadline: connections reset']);
});

test('goes on when a thread does not answer', async () => {
  const failing = lived({
    threads: { pulse: async () => Promise.reject(new Error('late')) } as never,
  });
  await failing.run(3);
  assert.deepEqual(new Set(failing.state.lines), new Set(['a copying thread does not answer']));
  assert.deepEqual(failing.ends, []);
});

test('answers a drain that begins while its threads are asked, before it ends', async () => {
  const { promise: isAsked, resolve: asked } = Promise.withResolvers<void>();
  const { promise: answer, resolve: answerPulse } = Promise.withResolvers<number>();
  const { promise: stopped, resolve: stopAccepting } = Promise.withResolvers<void>();
  const threads = {
    pulse: () => {
      asked();
      return answer;
    },
    setAccepting: () => stopped,
  };
  const { life, state, ends, run } = lived({
    threads: threads as unknown as LifeOptions['threads'],
  });
  state.clients = 1;
  const running = run(10);
  await isAsked;
  const draining = life.drain(0, true).then(() => assert.deepEqual(ends, []));
  answerPulse(0);
  // Time for the process to end too early.
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.deepEqual(ends, []);
  stopAccepting();
  await draining;
  await running;
  assert.deepEqual(ends, [[0, true]]);
});

test('ends at the deadline of a drain, also when a thread does not answer', async () => {
  const pulse = async () => Promise.reject(new Error('late'));
  const { life, ends, run } = lived({
    threads: { pulse, setAccepting: async () => undefined } as never,
  });
  await life.drain(0, true);
  await run(10);
  assert.deepEqual(ends, [[1, true]]);
});
