import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { describe, it, type TestContext } from 'node:test';
import { afterSilence } from './silence.ts';

const SILENCE_MS = 20;

async function openSocket(test: TestContext): Promise<Socket> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  test.after(() => socket.close());
  await once(socket, 'listening');
  return socket;
}

/** Blocks the event loop. */
function beAway(ms: number): void {
  const endAtMs = performance.now() + ms;
  while (performance.now() < endAtMs);
}

/** Sends a request to a server of this process, and blocks for longer than the silence may last. */
async function askAndBeAway(test: TestContext, answers: boolean): Promise<string> {
  const [server, client] = [await openSocket(test), await openSocket(test)];
  server.on('message', (message, { port }) => {
    if (answers) server.send(message, port, '127.0.0.1');
  });
  const { promise, resolve } = Promise.withResolvers<string>();
  const sent = Promise.withResolvers<void>();
  client.send('hello', server.address().port, '127.0.0.1', () => sent.resolve());
  await sent.promise;
  const callOff = afterSilence(SILENCE_MS, () => resolve('silence'));
  client.on('message', (message) => {
    callOff();
    resolve(message.toString());
  });
  beAway(3 * SILENCE_MS);
  return await promise;
}

describe('silence', () => {
  it('is not reported for an answer that arrived while the event loop was blocked', async (test) => {
    assert.equal(await askAndBeAway(test, true), 'hello');
  });

  it('is reported without an answer', async (test) => {
    assert.equal(await askAndBeAway(test, false), 'silence');
  });

  it('is not when it was called off', async () => {
    let count = 0;
    const callOff = afterSilence(0, () => count++);
    callOff();
    await new Promise<void>((resolve) => {
      afterSilence(SILENCE_MS, resolve);
    });
    assert.equal(count, 0);
  });
});
