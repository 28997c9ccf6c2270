import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { until } from '../time/testing/until.ts';
import { ApiSource } from './api-source.ts';
import type { ClusterError } from './cluster-error.ts';
import type { ServerReport } from './server-report.ts';
import type { SourceEvent } from './source.ts';
import { added, type Exchange, FakeApiServer, initialEnd } from './testing/fake-api-server.ts';
import { openAccess } from './testing/open-access.ts';

// Faults that a real API server cannot be made to show; the rest is in the integration tests.

it('watches four kinds over one connection, and reports the health of each', async (t) => {
  const server = await FakeApiServer.start((x) => {
    if (x.path === '/api/v1/services') x.watch(added('a', 1), initialEnd(2));
    else if (x.path.endsWith('/servicecidrs')) x.reject(404);
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
    '/apis/networking.k8s.io/v1beta1/servicecidrs',
    '/version',
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

it('syncs without a Node when none is watched', async (t) => {
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

it('watches only labelled namespaces, and only if they matter', async (t) => {
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

/** The part of an API server that a version has. */
interface Had {
  gitVersion: string;
  isStreaming: boolean;
  hasRanges: boolean;
}

function answerAs(had: Had): (exchange: Exchange) => void {
  return (x) => {
    if (x.path === '/version') x.answer(200, { gitVersion: had.gitVersion });
    else if (x.path.endsWith('/servicecidrs') && !had.hasRanges) x.reject(404);
    else if (x.query['sendInitialEvents'] && !had.isStreaming) x.reject(422);
    else if (x.query['watch']) x.watch(initialEnd(2));
    else x.answer(200, { metadata: { resourceVersion: '2' }, items: [] });
  };
}

describe('ApiSource, features that the server lacks', () => {
  const follow = async (t: TestContext, had: Had) => {
    const server = await FakeApiServer.start(answerAs(had));
    const [problems, missing]: ClusterError[][] = [[], []];
    const reports: ServerReport[] = [];
    const source = new ApiSource({
      connection: { access: openAccess(server.url) },
      onProblem: (problem) => problems?.push(problem),
      onMissing: (problem) => missing?.push(problem),
      onServer: (report) => reports.push(report),
    });
    const stop = new AbortController();
    const running = source.run(() => undefined, stop.signal);
    t.after(async () => {
      stop.abort();
      await running;
      await server[Symbol.asyncDispose]();
    });
    await until('a report', () => reports.length > 0);
    return { server, source, problems, missing, reports };
  };
  const gapsOf = ({ gaps }: ServerReport): string[] => gaps.map(({ feature }) => feature);

  it('reports them once for all kinds, with the version, and not as a problem', async (t) => {
    const had = { gitVersion: 'v1.32.9', isStreaming: false, hasRanges: false };
    const { problems, missing, reports, source } = await follow(t, had);
    assert.equal(reports.length, 1);
    assert.equal(reports[0]?.version, 'v1.32.9');
    assert.deepEqual(gapsOf(reports[0]), ['ServiceCIDR', 'streaming lists']);
    assert.deepEqual(source.server(), reports[0]);
    assert.deepEqual(problems, []);
    assert.ok((missing?.length ?? 0) >= 4);
  });

  it('reports none for a complete server', async (t) => {
    const { reports, problems } = await follow(t, {
      gitVersion: 'v1.37.1',
      isStreaming: true,
      hasRanges: true,
    });
    assert.deepEqual(reports, [{ version: 'v1.37.1', gaps: [] }]);
    assert.deepEqual(problems, []);
  });

  it('requests them again after the server was upgraded, without a restart', async (t) => {
    const had = { gitVersion: 'v1.32.9', isStreaming: false, hasRanges: false };
    const { server, reports } = await follow(t, had);
    Object.assign(had, { gitVersion: 'v1.34.1', isStreaming: true, hasRanges: true });
    server.resetConnections();
    await until('a second report', () => reports.at(-1)?.gaps.length === 0);
    assert.equal(reports.at(-1)?.version, 'v1.34.1');
  });

  it('does not report them again when the same server comes back', async (t) => {
    const had = { gitVersion: 'v1.32.9', isStreaming: false, hasRanges: false };
    const { server, reports } = await follow(t, had);
    const versionCount = (): number =>
      server.requests.filter(({ path }) => path === '/version').length;
    const rangesCount = (): number =>
      server.requests.filter(({ path }) => path.endsWith('/servicecidrs')).length;
    const askedBefore = rangesCount();
    server.resetConnections();
    await until('another connection', () => versionCount() === 2);
    await until('another try', () => rangesCount() === askedBefore + 2);
    assert.equal(reports.length, 1);
  });
});

it('ends with the error of a listener that throws', async (t) => {
  const server = await FakeApiServer.start((x) => x.watch(initialEnd(2)));
  t.after(() => server[Symbol.asyncDispose]());
  const source = new ApiSource({ connection: { access: openAccess(server.url) }, nodeName: 'n' });
  const mistake = new Error('a mistake');
  const running = source.run(({ kind }) => {
    if (kind === 'slice') throw mistake;
  }, new AbortController().signal);
  await assert.rejects(running, mistake);
});

it('stops immediately while connecting to a silent server', async (t) => {
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
