import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import type { Conditions } from '../conditions.ts';
import { type HealthServerOptions, runHealthServer } from './health-server.ts';
import { condition, conditionsWith, familyCondition } from './testing/example-conditions.ts';
import { ask, serve } from './testing/serve-pages.ts';
import { budgetOfTest } from './testing/serving-server.ts';

const NOW_MS = Date.UTC(2026, 10, 15, 9, 28, 21, 864);
const IPV4_MS = Date.UTC(2026, 10, 15, 9, 28, 9, 11);
const IPV6_MS = Date.UTC(2026, 10, 15, 9, 28, 9, 27);
const IPV4 = '"IPv4":{"lastUpdated":"2026-11-15T09:28:09.011Z","healthy":true}';
const IPV6 = '"IPv6":{"lastUpdated":"2026-11-15T09:28:09.027Z","healthy":true}';
const NOW = '"currentTime":"2026-11-15T09:28:21.864Z"';
const FRESH = '"lastUpdated":"2026-11-15T09:28:21.864Z"';
const STALE = '"lastUpdated":"2026-11-15T09:28:09.027Z"';

const TIMELY = {
  IPv4: familyCondition({ lastSyncedAtMs: IPV4_MS }),
  IPv6: familyCondition({ lastSyncedAtMs: IPV6_MS }),
};

function options(conditions: Conditions): HealthServerOptions {
  return {
    listen: { ip: '127.0.0.1', port: 0 },
    endsWhenServerFails: false,
    budget: budgetOfTest(),
    conditions: () => conditions,
    onProblem: assert.ifError,
    nowMs: () => NOW_MS,
  };
}

async function started(t: TestContext, more: Partial<Conditions> = {}): Promise<string> {
  const conditions = conditionsWith({ timely: TIMELY, ...more });
  const { port } = await serve(t, (hooks, signal) =>
    runHealthServer({ ...options(conditions), ...hooks }, signal),
  );
  return `http://127.0.0.1:${port}`;
}

describe('the health server', () => {
  it('answers as kube-proxy does when all conditions hold, to any method', async (t) => {
    const url = await started(t);
    const { status, headers, body } = await ask(`${url}/healthz?verbose`);
    assert.equal(status, 200);
    assert.equal(headers.get('content-type'), 'application/json');
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    assert.equal(
      body,
      `{${FRESH},${NOW},"nodeEligible":true,"healthy":true,"status":{${IPV4},${IPV6}}}`,
    );
    const livez = `{${FRESH},${NOW},"healthy":true,"status":{${IPV4},${IPV6}}}`;
    assert.equal((await ask(`${url}/livez`)).body, livez);
    assert.equal((await ask(`${url}/livez`, 'POST')).body, livez);
    assert.equal((await ask(`${url}/readyz`)).body, livez);
  });

  it('fails /healthz but not /livez while the node is being removed', async (t) => {
    const url = await started(t, { nodeEligible: condition(false) });
    const healthz = await ask(`${url}/healthz`);
    assert.equal(healthz.status, 503);
    assert.equal(
      healthz.body,
      `{${STALE},${NOW},"nodeEligible":false,"healthy":true,"status":{${IPV4},${IPV6}},` +
        '"failing":["nodeEligible"]}',
    );
    assert.equal((await ask(`${url}/livez`)).status, 200);
    assert.equal((await ask(`${url}/readyz`)).status, 200);
  });

  it('is alive but not healthy before the first sync', async (t) => {
    const timely = { IPv4: familyCondition(), IPv6: familyCondition() };
    const url = await started(t, { firstSync: condition(false), timely });
    const healthz = await ask(`${url}/healthz`);
    assert.equal(healthz.status, 503);
    assert.equal(
      healthz.body,
      `{"lastUpdated":"0001-01-01T00:00:00Z",${NOW},"nodeEligible":true,"healthy":false,` +
        '"failing":["firstSync"]}',
    );
    assert.equal((await ask(`${url}/readyz`)).status, 503);
    assert.equal((await ask(`${url}/livez`)).status, 200);
  });

  it('fails every probe when a family is late', async (t) => {
    const late = familyCondition({ isTrue: false, lastSyncedAtMs: IPV4_MS });
    const url = await started(t, { timely: { ...TIMELY, IPv4: late } });
    const { status, body } = await ask(`${url}/livez`);
    assert.equal(status, 503);
    const ipv4 = IPV4.replace('true', 'false');
    assert.equal(
      body,
      `{${STALE},${NOW},"healthy":false,"status":{${ipv4},${IPV6}},"failing":["timely.IPv4"]}`,
    );
    assert.equal((await ask(`${url}/healthz`)).status, 503);
    assert.equal((await ask(`${url}/readyz`)).status, 503);
  });

  it('has no other pages', async (t) => {
    const url = await started(t);
    const { status, headers, body } = await ask(`${url}/healthz/`);
    assert.equal(status, 404);
    assert.equal(headers.get('content-type'), 'text/plain; charset=utf-8');
    assert.equal(body, '404 page not found\n');
  });

  it('reports each response', async (t) => {
    const answers: string[] = [];
    const { port } = await serve(t, (hooks, signal) => {
      const onAnswer = (probe: string, status: number) => answers.push(`${probe} ${status}`);
      const bad = options(conditionsWith({ nodeEligible: condition(false) }));
      return runHealthServer({ ...bad, ...hooks, onAnswer }, signal);
    });
    await ask(`http://127.0.0.1:${port}/healthz`);
    await ask(`http://127.0.0.1:${port}/livez`);
    assert.deepEqual(answers, ['healthz 503', 'livez 200']);
  });

  it('listens in both families on 0.0.0.0, as kube-proxy does', async (t) => {
    const listen = { ip: '0.0.0.0', port: 0 };
    const { port } = await serve(t, (hooks, signal) =>
      runHealthServer({ ...options(conditionsWith()), ...hooks, listen }, signal),
    );
    assert.equal((await ask(`http://127.0.0.1:${port}/livez`)).status, 200);
    assert.equal((await ask(`http://[::1]:${port}/livez`)).status, 200);
  });
});

describe('health server, port in use', () => {
  async function takenPort(t: TestContext): Promise<number> {
    const other = net.createServer();
    await once(other.listen(0, '127.0.0.1'), 'listening');
    t.after(() => other.close());
    return (other.address() as net.AddressInfo).port;
  }

  it('ends the process when it is configured to', async (t) => {
    const listen = { ip: '127.0.0.1', port: await takenPort(t) };
    const failing = { ...options(conditionsWith()), listen, endsWhenServerFails: true };
    const signal = AbortSignal.timeout(10_000);
    await assert.rejects(runHealthServer(failing, signal), { code: 'SERVER_LISTEN' });
  });

  it('reports and retries otherwise', async (t) => {
    const listen = { ip: '127.0.0.1', port: await takenPort(t) };
    const stop = new AbortController();
    const told = Promise.withResolvers<string>();
    const running = runHealthServer(
      { ...options(conditionsWith()), listen, onProblem: ({ message }) => told.resolve(message) },
      stop.signal,
    );
    assert.match(await told.promise, /EADDRINUSE/);
    stop.abort();
    await running;
  });
});
