import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { it } from 'node:test';
import { ApiSource } from './api-source.ts';
import type { SourceEvent } from './source.ts';
import { added, FakeApiServer, initialEnd } from './testing/fake-api-server.ts';
import { openAccess } from './testing/open-access.ts';
import { until } from './testing/until.ts';

// What the real server does is in the integration tests; here is what it cannot be asked to do.

it('tells four kinds over one connection, and names of each how it is doing', async (t) => {
  const server = await FakeApiServer.start((x) => {
    if (x.path === '/api/v1/services') x.watch(added('a', 1), initialEnd(2));
    else if (x.path.endsWith('/servicecidrs')) x.refuse(404);
    else x.watch(initialEnd(2));
  });
  t.after(() => server[Symbol.asyncDispose]());
  const source = new ApiSource({
    connection: { access: openAccess(server.url) },
    nodeName: 'here',
  });
  const events: SourceEvent[] = [];
  const stop = new AbortController();
  const running = source.run((event) => events.push(event), stop.signal);
  await until('all kinds', () => events.filter(({ type }) => type === 'synced').length === 4);
  assert.equal(server.connectionCount, 1);
  assert.deepEqual(server.requests.map(({ path }) => path).sort(), [
    '/api/v1/nodes',
    '/api/v1/services',
    '/apis/discovery.k8s.io/v1/endpointslices',
    '/apis/networking.k8s.io/v1/servicecidrs',
  ]);
  const node = server.requests.find(({ path }) => path === '/api/v1/nodes');
  assert.equal(node?.query['fieldSelector'], 'metadata.name=here');
  const health = source.health();
  assert.deepEqual(health.map(({ kind }) => kind).sort(), [
    'node',
    'service',
    'serviceCidr',
    'slice',
  ]);
  for (const { connected, lastHeardAtMs } of health) assert.ok(connected && lastHeardAtMs > 0);
  stop.abort();
  await running;
});

it('without a node of its own keeps nobody waiting for one', async (t) => {
  const server = await FakeApiServer.start((x) => x.watch(initialEnd(2)));
  t.after(() => server[Symbol.asyncDispose]());
  const source = new ApiSource({ connection: { access: openAccess(server.url) } });
  const synced: string[] = [];
  const stop = new AbortController();
  const running = source.run((event) => synced.push(event.kind), stop.signal);
  await until('all kinds', () => synced.length === 4);
  assert.deepEqual(synced.sort(), ['node', 'service', 'serviceCidr', 'slice']);
  stop.abort();
  await running;
});

it('asks for namespaces where they matter, only for those with the label', async (t) => {
  const server = await FakeApiServer.start((x) => x.watch(initialEnd(2)));
  t.after(() => server[Symbol.asyncDispose]());
  const connection = { access: openAccess(server.url) };
  const source = new ApiSource({ connection, watchesNamespaces: true });
  const synced: string[] = [];
  const stop = new AbortController();
  const running = source.run((event) => synced.push(event.kind), stop.signal);
  await until('all kinds', () => synced.length === 5);
  const asked = server.requests.find(({ path }) => path === '/api/v1/namespaces');
  assert.equal(asked?.query['labelSelector'], 'fairlead.dev/ebpf');
  stop.abort();
  await running;
});

it('ends as a whole, with the mistake of who listens', async (t) => {
  const server = await FakeApiServer.start((x) => x.watch(initialEnd(2)));
  t.after(() => server[Symbol.asyncDispose]());
  const source = new ApiSource({ connection: { access: openAccess(server.url) }, nodeName: 'n' });
  const mistake = new Error('a mistake');
  const running = source.run(({ kind }) => {
    if (kind === 'slice') throw mistake;
  }, new AbortController().signal);
  await assert.rejects(running, mistake);
});

it('stops at once also while it connects to a server that says nothing', async (t) => {
  const silent = net.createServer((socket) => t.after(() => socket.destroy()));
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  t.after(() => silent.close());
  const connected = once(silent, 'connection');
  const { port } = silent.address() as net.AddressInfo;
  const access = openAccess(new URL(`https://127.0.0.1:${port}`));
  const source = new ApiSource({ connection: { access } });
  const stop = new AbortController();
  const running = source.run(() => undefined, stop.signal);
  await connected;
  const begun = performance.now();
  stop.abort();
  await running;
  assert.ok(performance.now() - begun < 2_000);
});
