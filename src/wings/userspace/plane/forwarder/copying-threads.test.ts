import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CopyingThread, type ThreadEvents, ThreadGroup } from './copying-threads.ts';
import { ROW_MEMORY_BYTES } from './row-memory.ts';
import { openSharedMemory } from './slots.ts';
import type { ThreadStart } from './thread-messages.ts';

const DEADLINE_MS = 10_000;

/** A thread that runs this code, with its port as `port` and a function `tell`. */
function threadOf(code: string, events: Partial<ThreadEvents> = {}): CopyingThread {
  const text = `
    import { workerData } from 'node:worker_threads';
    const { port } = workerData;
    const tell = (message) => port.postMessage(message);
    ${code}`;
  const start: Omit<ThreadStart, 'wakeFd' | 'port' | 'counts'> = {
    listeners: [],
    keepsClientAddress: true,
    memory: openSharedMemory(ROW_MEMORY_BYTES),
    mostConnections: 1,
    halfClosedMs: 1_000,
    ports: { first: 20_000, last: 30_000 },
  };
  const silent = { onStick: () => undefined, onBroken: () => undefined };
  return new CopyingThread(0, {
    program: new URL(`data:text/javascript,${encodeURIComponent(text)}`),
    start,
    events: { ...silent, ...events },
  });
}

const ANSWERS_PULSES = `
  port.on('message', ({ tell: asked, id }) => {
    if (asked === 'pulse') tell({ tell: 'pulse', id, open: 3, hasRoom: true });
    if (asked === 'stop') port.close();
  });`;

async function broken(code: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  threadOf(code, { onBroken: resolve });
  return await promise;
}

test('a thread that ends or throws is told of', async () => {
  assert.match(await broken(''), /it ended/);
  assert.match(await broken('throw new Error("no epoll")'), /no epoll/);
});

test('a thread that does not answer fails the pulse of all', async () => {
  const quick = threadOf(ANSWERS_PULSES);
  const slow = threadOf(
    `port.on('message', ({ tell: asked }) => { if (asked === 'stop') port.close(); });`,
  );
  assert.equal(await new ThreadGroup([quick]).pulse(DEADLINE_MS), 3);
  await assert.rejects(new ThreadGroup([quick, slow]).pulse(), { name: 'ThreadSilentError' });
  assert.equal(await new ThreadGroup([quick, slow]).stop(DEADLINE_MS), true);
});

test('a thread that does not end in time is reported, not waited for', async () => {
  const thread = threadOf(`const timer = setInterval(() => undefined, 1000);
    setTimeout(() => { clearInterval(timer); port.close(); }, 1500);
    port.on('message', () => undefined);`);
  assert.equal(await thread.stop(20), false);
  assert.equal(await thread.stop(DEADLINE_MS), true);
});

test('pairs stay with their threads when one of them does not answer', async () => {
  const told: string[] = [];
  const pair = "{ clientFd: 1, endpointFd: 2, slot: 0, client: 'a' }";
  const code = (answer: string) => `port.on('message', ({ tell: asked, id, taken }) => {
      if (asked === 'give-pairs') { ${answer} }
      if (asked === 'given') tell({ tell: 'stick', client: String(taken) });
      if (asked === 'stop') port.close();
    });`;
  const bothTold = Promise.withResolvers<void>();
  const onStick: ThreadEvents['onStick'] = (_, { client }) => {
    if (told.push(client) === 2) bothTold.resolve();
  };
  const giving = threadOf(code(`tell({ tell: 'moved', id, pairs: [${pair}] })`), { onStick });
  const silent = threadOf(code(''), { onStick });
  const group = new ThreadGroup([giving, silent]);
  await assert.rejects(group.givePairs(), { name: 'ThreadSilentError' });
  await bothTold.promise;
  assert.deepEqual(told, ['false', 'false']);
  assert.equal(await group.stop(DEADLINE_MS), true);
});

test('threads that could not hold a connection lack room, and the next pulse tells', async () => {
  const full = threadOf(`port.on('message', ({ tell: asked, id }) => {
      if (asked === 'pulse') tell({ tell: 'pulse', id, open: 3, hasRoom: false });
      if (asked === 'stop') port.close();
    });`);
  const group = new ThreadGroup([full]);
  assert.equal(group.lacksRoom, false);
  await group.pulse(DEADLINE_MS);
  assert.equal(group.lacksRoom, true);
  await group.stop(DEADLINE_MS);
});
