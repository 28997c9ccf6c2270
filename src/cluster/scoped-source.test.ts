import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { until } from '../time/testing/until.ts';
import { ApiSource, type ApiSourceOptions } from './api-source.ts';
import type { ClusterError } from './cluster-error.ts';
import type { SourceEvent } from './source.ts';
import { type Exchange, FakeApiServer, initialEnd } from './testing/fake-api-server.ts';
import { openAccess } from './testing/open-access.ts';

async function follow(
  t: TestContext,
  options: Omit<ApiSourceOptions, 'connection'>,
  onRequest: (exchange: Exchange) => void = (x) => void x.watch(initialEnd(2)),
) {
  const server = await FakeApiServer.start((x) => {
    if (x.path === '/version') x.answer(200, { gitVersion: 'v1.37.1' });
    else onRequest(x);
  });
  const problems: ClusterError[] = [];
  const source = new ApiSource({
    connection: { access: openAccess(server.url) },
    onProblem: (problem) => problems.push(problem),
    // Retries at once.
    random: () => 0,
    ...options,
  });
  const events: SourceEvent[] = [];
  const stop = new AbortController();
  const running = source.run((event) => events.push(event), stop.signal);
  t.after(async () => {
    stop.abort();
    await running;
    await server[Symbol.asyncDispose]();
  });
  const synced = (): string[] =>
    events.flatMap(({ kind, type }) => (type === 'synced' ? [kind] : [])).sort();
  return { server, source, problems, events, synced };
}

const SHOP = { namespaces: ['shop'], services: [] };
const BOTH = { namespaces: ['shop', 'billing'], services: [] };

it('requests only what is in the scope, and no ranges or namespaces', async (t) => {
  const { server, synced } = await follow(t, {
    scope: SHOP,
    watchesNamespaces: true,
    watchesServiceCidrs: false,
  });
  await until('all kinds', () => synced().length === 5);
  assert.deepEqual(synced(), ['namespace', 'node', 'service', 'serviceCidr', 'slice']);
  assert.deepEqual(server.requests.map(({ path }) => path).sort(), [
    '/api/v1/namespaces/shop/services',
    '/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices',
    '/version',
  ]);
});

it('reports the health of each kind once, with several watches of it', async (t) => {
  const { source, synced } = await follow(t, { scope: BOTH });
  await until('all kinds', () => synced().length === 4);
  assert.deepEqual(
    source.health().map(({ kind, connected }) => [kind, connected]),
    [
      ['service', true],
      ['slice', true],
      ['serviceCidr', true],
    ],
  );
});

it('goes on without a forbidden namespace, says which, and reads it once it is allowed', async (t) => {
  let isAllowed = false;
  const { source, problems, synced } = await follow(t, { scope: BOTH }, (x) => {
    if (x.path.includes('/billing/') && !isAllowed) x.reject(403);
    else x.watch(initialEnd(2));
  });
  await until('all kinds', () => synced().length === 4);
  const [service] = source.health();
  assert.deepEqual(service?.forbidden, ['namespace billing']);
  assert.equal(service.connected, false);
  assert.match(service.lastError ?? '', /namespaces\/billing\/services: .* 403/);
  assert.match(
    problems[0]?.next ?? '',
    /^grant this user list and watch of (services|endpointslices) for namespace billing, or remove/,
  );
  isAllowed = true;
  await until('the namespace', () => source.health().every(({ connected }) => connected));
  assert.equal(source.health()[0]?.forbidden, undefined);
  assert.equal(synced().length, 4, 'synced once');
});

it('does not sync while everything in the scope is forbidden', async (t) => {
  const { server, source, synced } = await follow(t, { scope: BOTH }, (x) =>
    x.path.includes('/namespaces/') ? x.reject(403) : void x.watch(initialEnd(2)),
  );
  await until('many attempts', () => server.requests.length > 60);
  assert.deepEqual(synced(), ['node', 'serviceCidr']);
  assert.deepEqual(source.health()[0]?.forbidden, ['namespace shop', 'namespace billing']);
});
