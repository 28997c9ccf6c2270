import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { it } from 'node:test';
import { dialTcp, listenTcp } from './sockets.ts';

const CLIENTS = 240;
const HERE = '/proc/self/ns/net';

/** Counts the iterations of the event loop. */
class Turns {
  count = 0;

  watch(signal: AbortSignal): void {
    setImmediate(() => {
      this.count++;
      if (!signal.aborted) this.watch(signal);
    });
  }
}

it('accepts all waiting connections in one event loop iteration', async (test) => {
  const ended = new AbortController();
  const turns = new Turns();
  const turnsWithConnections = new Set<number>();
  const accepted: Socket[] = [];
  const all = Promise.withResolvers<void>();
  const server = await listenTcp({ namespace: HERE, port: 0 }, (socket) => {
    turnsWithConnections.add(turns.count);
    accepted.push(socket);
    socket.on('error', () => socket.destroy()).pipe(socket);
    if (accepted.length === CLIENTS) all.resolve();
  });
  const { port } = server.address() as AddressInfo;
  const clients = Array.from({ length: CLIENTS }, () =>
    dialTcp({ namespace: HERE }, { address: '127.0.0.1', port }),
  );
  test.after(() => {
    ended.abort();
    for (const socket of [...clients, ...accepted]) socket.destroy();
    server.close();
  });
  turns.watch(ended.signal);
  await all.promise;
  // All connect before the first iteration; one more is for a slow kernel.
  assert.ok(turnsWithConnections.size <= 2, `${turnsWithConnections.size} turns`);

  const answers = clients.map((client) => once(client, 'data'));
  for (const [index, client] of clients.entries()) client.write(String(index));
  const told = (await Promise.all(answers)).map(([data]) => String(data));
  assert.deepEqual(told, [...clients.keys()].map(String));
});
