import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { it } from 'node:test';
import { dialDirectly } from '../../../cluster/api-socket.ts';
import { Secret } from '../../../cluster/secret.ts';
import { dialThrough } from '../../../cluster/tunnel.ts';
import { startRelay } from './api-relay.ts';

it('connects to the API server through a socket file, and to no other address', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-relay-'));
  t.after(() => rm(folder, { recursive: true }));
  const server = net.createServer((socket) => socket.end('the API server'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as net.AddressInfo;
  const stop = new AbortController();
  const path = join(folder, 'api.sock');
  await startRelay({ path, host: '127.0.0.1', port, dial: dialDirectly }, stop.signal);
  const dial = dialThrough(new Secret(`unix://${path}`), dialDirectly);
  assert.equal(await text(await dial('127.0.0.1', port)), 'the API server');
  await assert.rejects(async () => await dial('127.0.0.1', port === 1 ? 2 : 1), {
    code: 'CLUSTER_PROXY',
    message: /status 403/,
  });
  stop.abort();
});
