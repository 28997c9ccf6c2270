import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { until } from '../../time/testing/until.ts';
import { runHealthServer } from './health-server.ts';
import { runMetricsServer } from './metrics-server.ts';
import { ServiceHealthServers } from './service-health.ts';
import { conditionsWith } from './testing/example-conditions.ts';
import { flood } from './testing/flood.ts';
import { freePort } from './testing/free-port.ts';
import { type Heard, serve } from './testing/serve-pages.ts';
import { budgetOfTest } from './testing/serving-server.ts';

/** The probe timeout in deploy/manifests. */
const PROBE_TIMEOUT_MS = 5_000;
const PROBE_COUNT = 20;
const MB = 1024 * 1024;
/** Sooner than the deadline of a first head, which would end all of them. */
const EVICTED_WITHIN_MS = 3_000;
/** Those of `budgetOfTest`. */
const LIMITS = { total: 1024, perSource: 256 };

async function healthServer(t: TestContext): Promise<number> {
  const { port } = await serve(t, (hooks, signal) =>
    runHealthServer(
      {
        listen: { ip: '0.0.0.0', port: 0 },
        endsWhenServerFails: false,
        budget: budgetOfTest(),
        conditions: () => conditionsWith(),
        ...hooks,
      },
      signal,
    ),
  );
  return port;
}

async function serviceHealthPorts(t: TestContext, count: number): Promise<number[]> {
  const servers = new ServiceHealthServers({
    facts: () => ({ nodePortAddresses: { IPv4: ['127.0.0.1'], IPv6: [] } }),
    isHealthy: () => true,
    budget: budgetOfTest(),
    onListenFailure: ({ error }) => assert.ifError(error),
    onProblem: assert.ifError,
  });
  t.after(() => servers.close());
  servers.onFirstSync();
  const ports: number[] = [];
  for (let index = 0; index < count; index++) {
    const port = await freePort();
    const about = { namespace: 'default', name: `web${index}`, port, localEndpoints: { IPv4: 1 } };
    servers.onHealthCheck(`default/web${index}`, about);
    await until('the port', () => probe(port).then(Boolean, () => false));
    ports.push(port);
  }
  return ports;
}

async function probe(port: number, path = '/livez'): Promise<Heard> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    headers: { connection: 'close' },
    signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
  });
  return { status: response.status, headers: response.headers, body: await response.text() };
}

async function assertAnswers(port: number): Promise<void> {
  for (let count = 0; count < PROBE_COUNT; count++) {
    assert.equal((await probe(port)).status, 200);
  }
}

describe('the health server answers probes', () => {
  for (const sources of ['one', 'many'] as const) {
    for (const count of [1_200, 5_000]) {
      const from = sources === 'one' ? 'one address' : 'as many addresses';
      it(`while ${count} idle connections from ${from} are held`, async (t) => {
        const port = await healthServer(t);
        const { heldCount } = await flood(t, { port, count, sources });
        await assertAnswers(port);
        const most = sources === 'one' ? LIMITS.perSource : LIMITS.total;
        await until('the eviction of all others', () => heldCount() <= most, EVICTED_WITHIN_MS);
      });
    }
  }

  it('while 1,200 connections drip a header, and drops those in the end', async (t) => {
    const port = await healthServer(t);
    const send = 'GET /livez HTTP/1.1\r\nHost: a\r\nX-Slow: ';
    const drip = { byte: 'a', everyMs: 200 };
    const { heldCount } = await flood(t, { port, count: 1_200, sources: 'many', send, drip });
    await assertAnswers(port);
    await until('the end of every slow header', () => heldCount() === 0);
  });

  it('while 1,200 connections send a thousand requests each and read nothing', async (t) => {
    const port = await healthServer(t);
    const send = 'GET /livez HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(1_000);
    await flood(t, { port, count: 1_200, sources: 'many', send, reads: false });
    await assertAnswers(port);
  });
});

describe('the health ports of Services', () => {
  it('answer while 1,200 idle connections are held', async (t) => {
    const [port = 0] = await serviceHealthPorts(t, 1);
    await flood(t, { port, count: 1_200, sources: 'one' });
    await assertAnswers(port);
  });

  it('have one budget of connections together', async (t) => {
    const ports = await serviceHealthPorts(t, 4);
    const floods = await Promise.all(
      ports.map((port) => flood(t, { port, count: 500, sources: 'many' })),
    );
    for (const port of ports) assert.equal((await probe(port)).status, 200);
    const heldCount = (): number => floods.reduce((sum, each) => sum + each.heldCount(), 0);
    await until('the eviction of all others', () => heldCount() <= LIMITS.total, EVICTED_WITHIN_MS);
  });
});

it('does not keep in memory what clients ask for and never read', async (t) => {
  const text = async (): Promise<string> => 'x'.repeat(8 * MB);
  const { port } = await serve(t, (hooks, signal) =>
    runMetricsServer(
      {
        listen: { ip: '127.0.0.1', port: 0 },
        endsWhenServerFails: false,
        budget: budgetOfTest(),
        mode: 'nftables',
        metrics: { contentType: 'text/plain', render: text, renderSlis: text },
        configuration: () => ({}),
        ...hooks,
      },
      signal,
    ),
  );
  // 800 MB are asked for.
  const before = process.memoryUsage.rss();
  const send = 'GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n';
  await flood(t, { port, count: 100, sources: 'many', send, reads: false });
  assert.equal((await probe(port, '/proxyMode')).body, 'nftables');
  const grownMb = (process.memoryUsage.rss() - before) / MB;
  assert.ok(grownMb < 400, `the process has grown by ${Math.round(grownMb)} MB`);
});
