import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { PlaneError } from '../../../dataplanes/contract.ts';
import { ForwarderLink } from './forwarder-link.ts';
import { FrameReader, frame } from './framing.ts';

/** A forwarder that the test answers for. */
async function opened(t: TestContext, onRequest: (what: string, socket: Socket) => void) {
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-link-'));
  const server = createServer((socket) => {
    const reader = new FrameReader();
    socket.on('data', (chunk: Buffer) => {
      for (const request of reader.push(chunk)) {
        onRequest((request as { do: string }).do, socket);
      }
    });
  });
  const path = join(folder, 'control.sock');
  await new Promise<void>((resolve) => void server.listen(path, resolve));
  const link = await ForwarderLink.open(path, 1000);
  t.after(async () => {
    link.close();
    server.close();
    await rm(folder, { recursive: true });
  });
  return link;
}

function answer(socket: Socket, reply: unknown): void {
  socket.write(Buffer.concat(frame(JSON.stringify(reply))));
}

function withCode(code: string): (error: unknown) => boolean {
  return (error) => error instanceof PlaneError && error.code === code;
}

test('gives each question its answer, and an error of the forwarder as one of its own', async (t) => {
  const link = await opened(t, (what, socket) => {
    answer(socket, what === 'end' ? { error: 'no' } : { ok: { what } });
  });
  const asked = [link.ask({ do: 'pulse' }, 1000), link.ask({ do: 'counts' }, 1000)];
  assert.deepEqual(await Promise.all(asked), [{ what: 'pulse' }, { what: 'counts' }]);
  const failed = link.ask({ do: 'end', connections: [] }, 1000);
  await assert.rejects(failed, withCode('FORWARDER_FAILED'));
});

test('does not take the answer that came too late for that of the next question', async (t) => {
  const held: (() => void)[] = [];
  const link = await opened(t, (what, socket) => {
    held.push(() => answer(socket, { ok: { what } }));
    if (held.length === 2) for (const late of held) late();
  });
  await assert.rejects(link.ask({ do: 'pulse' }, 1), withCode('FORWARDER_SILENT'));
  assert.deepEqual(await link.ask({ do: 'counts' }, 1000), { what: 'counts' });
});

test('rejects what waits when the forwarder ends, and everything after it', async (t) => {
  const link = await opened(t, (_, socket) => void socket.destroy());
  await assert.rejects(link.ask({ do: 'pulse' }, 1000), withCode('FORWARDER_ENDED'));
  await link.ended;
  await assert.rejects(link.ask({ do: 'pulse' }, 1000), withCode('FORWARDER_ENDED'));
});

test('holds a limited number of questions for a forwarder that does not answer', async (t) => {
  const link = await opened(t, () => undefined);
  const asked = Array.from({ length: 65 }, () => link.ask({ do: 'pulse' }, 100));
  await assert.rejects(asked.at(-1) as Promise<unknown>, withCode('FORWARDER_SILENT'));
  const ends = await Promise.allSettled(asked);
  assert.ok(ends.every(({ status }) => status === 'rejected'));
});
