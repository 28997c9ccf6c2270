import assert from 'node:assert/strict';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { createConnection, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { ForwarderLink } from '../forwarder-link.ts';
import type { Request } from '../forwarder-protocol.ts';
import { FrameReader, frame } from '../framing.ts';
import { ControlServer } from './control-server.ts';
import { jsonArray } from './requests.ts';

const DEADLINE_MS = 5_000;

async function listening(t: TestContext, answer: (request: Request) => Promise<readonly string[]>) {
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-control-'));
  const path = join(folder, 'control.sock');
  const lines: string[] = [];
  const log = (message: string) => void lines.push(message);
  const server = new ControlServer({ answer, log: { info: log, warn: log, error: log } });
  await server.listen(path);
  t.after(async () => {
    server.close();
    await rm(folder, { recursive: true });
  });
  return { path, server, lines };
}

/** The answer is what was asked, after the promise that the test resolves. */
async function connected(t: TestContext, path: string): Promise<ForwarderLink> {
  const link = await ForwarderLink.open(path, DEADLINE_MS);
  t.after(() => link.close());
  return link;
}

test('lets only its owner connect', async (t) => {
  const { path } = await listening(t, async () => ['{}']);
  assert.equal((await stat(path)).mode & 0o777, 0o600);
});

test('answers one client while another one waits', async (t) => {
  const held = Promise.withResolvers<void>();
  const { path } = await listening(t, async (request) => {
    if (request.do === 'digests') await held.promise;
    return [JSON.stringify({ asked: request.do })];
  });
  const [slow, quick] = [await connected(t, path), await connected(t, path)];
  const waiting = slow.ask({ do: 'digests' }, DEADLINE_MS);
  assert.deepEqual(await quick.ask({ do: 'pulse' }, DEADLINE_MS), { asked: 'pulse' });
  held.resolve();
  assert.deepEqual(await waiting, { asked: 'digests' });
});

test('sends an answer of many parts whole', async (t) => {
  const elements = Array.from({ length: 50_000 }, (_, index) => [`row-${index}`, 'é'] as const);
  const { path } = await listening(t, async () => await jsonArray(elements));
  const link = await connected(t, path);
  assert.deepEqual(await link.ask({ do: 'digests' }, DEADLINE_MS), elements);
});

test('tells the client of a failed request, and answers the next one', async (t) => {
  const { path, lines } = await listening(t, async (request) => {
    if (request.do === 'pulse') throw new Error('a thread does not answer');
    return ['{}'];
  });
  const link = await connected(t, path);
  await assert.rejects(link.ask({ do: 'pulse' }, DEADLINE_MS), /a thread does not answer/);
  assert.deepEqual(await link.ask({ do: 'totals' }, DEADLINE_MS), {});
  assert.deepEqual(lines, ['request failed']);
});

test('ends a connection whose message is too long or no JSON', async (t) => {
  const { path } = await listening(t, async () => ['{}']);
  const ended = (bytes: Buffer): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const socket: Socket = createConnection(path, () => void socket.write(bytes));
    socket.on('close', () => resolve());
    socket.on('error', () => undefined);
    return promise;
  };
  await ended(Buffer.from([0xff, 0, 0, 0]));
  await ended(Buffer.concat([Buffer.from([0, 0, 0, 2]), Buffer.from('{]')]));
  const link = await connected(t, path);
  assert.deepEqual(await link.ask({ do: 'pulse' }, DEADLINE_MS), {});
});

test('reads a request that comes byte by byte', async (t) => {
  const { path } = await listening(t, async ({ do: asked }) => [JSON.stringify({ asked })]);
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const reader = new FrameReader();
  const socket = createConnection(path);
  t.after(() => socket.destroy());
  socket.on('data', (chunk: Buffer) => reader.push(chunk).forEach(resolve));
  for (const byte of Buffer.concat(frame(JSON.stringify({ do: 'hello' })))) {
    await new Promise<void>((written) => void socket.write(Buffer.from([byte]), () => written()));
  }
  assert.deepEqual(await promise, { ok: { asked: 'hello' } });
});

test('writes an empty array, and one of exactly one part', async () => {
  assert.equal((await jsonArray([])).join(''), '[]');
  const elements = Array.from({ length: 2_000 }, (_, index) => index);
  assert.deepEqual(JSON.parse((await jsonArray(elements)).join('')), elements);
});
