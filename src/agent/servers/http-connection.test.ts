import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { until } from '../../time/testing/until.ts';
import { openHttpServer } from './http.ts';
import { type Handler, textReply } from './reply.ts';
import { serving } from './testing/serving-server.ts';

const ECHO: Handler = (path) => textReply(path);

interface Client {
  readonly socket: net.Socket;
  /** Everything that has come so far. */
  text(): string;
}

async function client(t: TestContext, handler: Handler = ECHO): Promise<Client> {
  const server = await openHttpServer({ ip: '127.0.0.1', port: 0 }, serving(handler));
  t.after(() => server.close());
  const socket = net.connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true });
  t.after(() => socket.destroy());
  await once(socket, 'connect');
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString();
  });
  return { socket, text: () => text };
}

function bodies(text: string): string[] {
  return [...text.matchAll(/\r\n\r\n(\/[a-z0-9]*)/g)].map(([, body]) => body ?? '');
}

describe('a connection', () => {
  it('answers in the form of HTTP/1.1, and stays open for another request', async (t) => {
    const { socket, text } = await client(t);
    socket.write('GET /a HTTP/1.1\r\nHost: x\r\n\r\n');
    await until('the answer', () => text().endsWith('/a'));
    assert.match(
      text(),
      /^HTTP\/1\.1 200 OK\r\nContent-Type: text\/plain; charset=utf-8\r\nX-Content-Type-Options: nosniff\r\nDate: \w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT\r\nContent-Length: 2\r\n\r\n\/a$/,
    );
    socket.write('GET /b HTTP/1.1\r\nHost: x\r\n\r\n');
    await until('the second answer', () => text().endsWith('/b'));
    assert.equal(socket.readableEnded, false);
  });

  it('answers pipelined requests in their order, and not in one iteration', async (t) => {
    let iteration = 0;
    let isCounting = true;
    const count = (): void => {
      iteration++;
      if (isCounting) setImmediate(count);
    };
    t.after(() => {
      isCounting = false;
    });
    const iterations = new Set<number>();
    const { socket, text } = await client(t, (path) => {
      iterations.add(iteration);
      return textReply(path);
    });
    setImmediate(count);
    const paths = Array.from({ length: 50 }, (_, index) => `/${index}`);
    socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\n\r\n`).join(''));
    await until('all answers', () => bodies(text()).length === paths.length);
    assert.deepEqual(bodies(text()), paths);
    assert.equal(iterations.size, paths.length);
  });

  it('closes when a client sends more than a head ahead', async (t) => {
    const { socket, text } = await client(t);
    socket.write('GET /a HTTP/1.1\r\n\r\n'.repeat(2_000));
    await once(socket, 'end');
    assert.match(text(), /Connection: close\r\n\r\n\/a$/);
    assert.equal(bodies(text()).length, 1);
  });

  it('answers a head that arrives in pieces', async (t) => {
    const { socket, text } = await client(t);
    for (const piece of ['GE', 'T /a HT', 'TP/1.1\r', '\nHost: x\r\n', '\r\n']) {
      socket.write(piece);
      await new Promise(setImmediate);
    }
    await until('the answer', () => text().endsWith('/a'));
  });

  it('answers a client that has closed its side already', async (t) => {
    const slow: Handler = async (path) => {
      await new Promise(setImmediate);
      return textReply(path);
    };
    const { socket, text } = await client(t, slow);
    socket.end('GET /a HTTP/1.1\r\n\r\n');
    await once(socket, 'end');
    assert.match(text(), /\r\n\r\n\/a$/);
  });

  it('answers a client of HTTP/1.0 with keep-alive if it asks for that', async (t) => {
    const { socket, text } = await client(t);
    socket.write('GET /a HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n');
    await until('the answer', () => text().endsWith('/a'));
    assert.match(text(), /\r\nConnection: keep-alive\r\n\r\n\/a$/);
    socket.write('GET /b HTTP/1.0\r\n\r\n');
    await once(socket, 'end');
    assert.match(text(), /\r\nConnection: close\r\n\r\n\/b$/);
  });

  it('answers a request with a body, and closes', async (t) => {
    const { socket, text } = await client(t);
    socket.write('POST /a HTTP/1.1\r\nContent-Length: 100000\r\n\r\n');
    socket.write('b'.repeat(100_000));
    await once(socket, 'end');
    assert.match(text(), /\r\nConnection: close\r\n\r\n\/a$/);
  });

  it('rejects what is not HTTP, and heads that are too large', async (t) => {
    const malformed = await client(t);
    malformed.socket.write('SSH-2.0-OpenSSH_10.0\r\n\r\n');
    await once(malformed.socket, 'end');
    assert.match(malformed.text(), /^HTTP\/1\.1 400 Bad Request\r\n/);
    const large = await client(t);
    large.socket.write(`GET / HTTP/1.1\r\nX: ${'a'.repeat(10_000)}`);
    await once(large.socket, 'end');
    assert.match(large.text(), /^HTTP\/1\.1 431 /);
  });
});
