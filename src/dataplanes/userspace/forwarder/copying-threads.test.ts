import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CopyingThread, type ThreadEvents } from './copying-threads.ts';
import type { ThreadStart } from './messages.ts';
import { openSlots } from './slots.ts';
import { ThreadGroup } from './thread-group.ts';

const DEADLINE_MS = 10_000;

/** A thread that runs this code, with its port as `port` and a function `tell`. */
function threadOf(code: string, events: Partial<ThreadEvents> = {}): CopyingThread {
  const text = `
    import { workerData } from 'node:worker_threads';
    const { port } = workerData;
    const tell = (message) => port.postMessage(message);
    ${code}`;
  const start: Omit<ThreadStart, 'index' | 'wakeFd' | 'port' | 'counts'> = {
    listeners: [],
    accepts: false,
    keepsClientAddress: true,
    open: openSlots(),
    avoided: openSlots(),
    mostConnections: 1,
  };
  const silent = { onAsk: () => undefined, onStick: () => undefined, onBroken: () => undefined };
  return new CopyingThread(0, {
    program: new URL(`data:text/javascript,${encodeURIComponent(text)}`),
    start,
    events: { ...silent, ...events },
  });
}

const ANSWERS_PULSES = `
  tell({ tell: 'ready' });
  port.on('message', ({ tell: asked, id }) => {
    if (asked === 'pulse') tell({ tell: 'pulse', id, open: 3 });
    if (asked === 'stop') port.close();
  });`;

async function broken(code: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  threadOf(code, { onBroken: resolve });
  return await promise;
}

test('a thread that ends, throws or says that it is broken is told of', async () => {
  assert.match(await broken(''), /it ended/);
  assert.match(await broken('throw new Error("no epoll")'), /no epoll/);
  assert.match(await broken('tell({ tell: "broken", message: "no memory" })'), /no memory/);
});

test('a thread that does not answer fails the pulse of all', async () => {
  const quick = threadOf(ANSWERS_PULSES);
  const slow = threadOf(`tell({ tell: 'ready' });
    port.on('message', ({ tell: asked }) => { if (asked === 'stop') port.close(); });`);
  await Promise.all([quick.ready(DEADLINE_MS), slow.ready(DEADLINE_MS)]);
  assert.equal(await new ThreadGroup([quick]).pulse(), 3);
  await assert.rejects(new ThreadGroup([quick, slow]).pulse(), { name: 'ThreadSilentError' });
  assert.equal(await new ThreadGroup([quick, slow]).stop(DEADLINE_MS), true);
});

test('a thread is behind until it answers a pulse that was sent after the last message', async () => {
  const thread = threadOf(ANSWERS_PULSES);
  await thread.ready(DEADLINE_MS);
  assert.equal(thread.isBehind, false);
  thread.send({ tell: 'list-gone', list: 1 });
  const early = thread.request({ tell: 'pulse' }, DEADLINE_MS);
  thread.send({ tell: 'list-gone', list: 2 });
  await early;
  assert.equal(thread.isBehind, true);
  await new ThreadGroup([thread]).settle();
  assert.equal(thread.isBehind, false);
  assert.equal(await thread.stop(DEADLINE_MS), true);
});

test('a thread that does not end in time is reported, not waited for', async () => {
  const thread = threadOf(`tell({ tell: 'ready' });
    const timer = setInterval(() => undefined, 1000);
    setTimeout(() => { clearInterval(timer); port.close(); }, 1500);
    port.on('message', () => undefined);`);
  await thread.ready(DEADLINE_MS);
  assert.equal(await thread.stop(20), false);
  assert.equal(await thread.stop(DEADLINE_MS), true);
});

test('pairs stay with their threads when one of them does not answer', async () => {
  const told: string[] = [];
  const pair = "{ clientFd: 1, endpointFd: 2, slot: 0, client: 'a' }";
  const code = (answer: string) => `tell({ tell: 'ready' });
    port.on('message', ({ tell: asked, id, taken }) => {
      if (asked === 'give-pairs') { ${answer} }
      if (asked === 'given') tell({ tell: 'ask', frontend: String(taken) });
      if (asked === 'stop') port.close();
    });`;
  const bothTold = Promise.withResolvers<void>();
  const onAsk: ThreadEvents['onAsk'] = (_, { frontend }) => {
    if (told.push(String(frontend)) === 2) bothTold.resolve();
  };
  const giving = threadOf(code(`tell({ tell: 'moved', id, pairs: [${pair}] })`), { onAsk });
  const silent = threadOf(code(''), { onAsk });
  await Promise.all([giving.ready(DEADLINE_MS), silent.ready(DEADLINE_MS)]);
  const group = new ThreadGroup([giving, silent]);
  await assert.rejects(group.givePairs(), { name: 'ThreadSilentError' });
  await bothTold.promise;
  assert.deepEqual(told, ['false', 'false']);
  assert.equal(await group.stop(DEADLINE_MS), true);
});
