import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { it } from 'node:test';
import { httpGet } from '../../../lab/servers/http-get.ts';
import { ifAnswered, quantileOf } from './sample.ts';

const INFINITE = Number.POSITIVE_INFINITY;

it('interpolates a quantile between the bounds of buckets, in milliseconds', () => {
  const buckets = new Map([
    [0.001, 50],
    [0.002, 100],
    [INFINITE, 100],
  ]);
  assert.equal(quantileOf(buckets, 0.75), 1.5);
  assert.equal(quantileOf(buckets, 0.5), 1);
});

it('gives the last bound for what is beyond it, and nothing without changes', () => {
  assert.equal(
    quantileOf(
      new Map([
        [0.5, 0],
        [INFINITE, 4],
      ]),
      0.99,
    ),
    500,
  );
  assert.equal(quantileOf(new Map([[INFINITE, 0]]), 0.99), null);
});

it('takes a connection that is reset, and one that nobody answers, for no answer', async (t) => {
  const silent = net.createServer();
  const resetting = net.createServer((socket) => {
    socket.once('data', () => socket.resetAndDestroy());
  });
  for (const server of [silent, resetting]) {
    const sockets: net.Socket[] = [];
    server.on('connection', (socket) => sockets.push(socket));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    t.after(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    const { port } = server.address() as net.AddressInfo;
    const request = { address: '127.0.0.1', port, path: '/metrics', deadlineMs: 200 };
    const answer = httpGet({ namespace: '/proc/self/ns/net' }, request);
    assert.equal(await ifAnswered(answer), undefined);
  }
});

it('does not take an error of the program for no answer', async () => {
  await assert.rejects(ifAnswered(Promise.reject(new TypeError('wrong'))), TypeError);
});
