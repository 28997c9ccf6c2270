import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import type { NodeFacts } from '../../dataplanes/contract.ts';
import { until } from '../../time/testing/until.ts';
import type { ServiceHealthCheck } from '../health-checks.ts';
import { ServiceHealthServers, type ServiceListenFailure } from './service-health.ts';
import { freePort } from './testing/free-port.ts';
import { ask, type Heard } from './testing/serve-pages.ts';
import { budgetOfTest } from './testing/serving-server.ts';

const LOOPBACK = { IPv4: ['127.0.0.1'], IPv6: ['::1'] };

interface Stage {
  readonly servers: ServiceHealthServers;
  readonly failures: ServiceListenFailure[];
  isHealthy: boolean;
  retryCount: number;
}

function stage(t: TestContext, addresses: NodeFacts['nodePortAddresses'] = LOOPBACK): Stage {
  const failures: ServiceListenFailure[] = [];
  const stage: Stage = {
    failures,
    isHealthy: true,
    retryCount: 0,
    servers: new ServiceHealthServers({
      facts: () => ({ nodePortAddresses: addresses }),
      isHealthy: () => stage.isHealthy,
      budget: budgetOfTest(),
      onListenFailure: (failure) => failures.push(failure),
      onProblem: assert.ifError,
      retryAfterMs: (failureCount) => {
        stage.retryCount = failureCount;
        return 2;
      },
    }),
  };
  t.after(() => stage.servers.close());
  stage.servers.onFirstSync();
  return stage;
}

function check(
  port: number,
  localEndpoints: ServiceHealthCheck['localEndpoints'],
  name = 'web',
): ServiceHealthCheck {
  return { namespace: 'default', name, port, localEndpoints };
}

async function answers(port: number, host = '127.0.0.1'): Promise<Heard> {
  let heard: Heard | undefined;
  await until(`an answer of ${host}:${port}`, async () => {
    heard = await ask(`http://${host}:${port}/any/path`).catch(() => undefined);
    return heard !== undefined;
  });
  return heard as Heard;
}

async function refuses(port: number, host = '127.0.0.1'): Promise<void> {
  await until(`silence of ${host}:${port}`, async () => {
    return await ask(`http://${host}:${port}/`).then(
      () => false,
      () => true,
    );
  });
}

describe('the health port of a Service', () => {
  it('answers as kube-proxy does', async (t) => {
    const { servers } = stage(t);
    const port = await freePort();
    servers.onHealthCheck('default/web', check(port, { IPv4: 1 }));
    const { status, headers, body } = await answers(port);
    assert.equal(status, 200);
    assert.equal(headers.get('content-type'), 'application/json');
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    assert.equal(headers.get('x-load-balancing-endpoint-weight'), '1');
    assert.equal(
      body,
      '{\n\t"service": {\n\t\t"namespace": "default",\n\t\t"name": "web"\n\t},\n' +
        '\t"localEndpoints": 1,\n\t"serviceProxyHealthy": true\n}',
    );
    await refuses(port, '[::1]');
  });

  it('follows the endpoints and the health of the node', async (t) => {
    const scene = stage(t);
    const port = await freePort();
    scene.servers.onHealthCheck('default/web', check(port, { IPv4: 0 }));
    const none = await answers(port);
    assert.equal(none.status, 503);
    assert.equal(none.headers.get('x-load-balancing-endpoint-weight'), '0');
    scene.servers.onHealthCheck('default/web', check(port, { IPv4: 3 }));
    assert.equal((await answers(port)).status, 200);
    scene.isHealthy = false;
    const ill = await answers(port);
    assert.equal(ill.status, 503);
    assert.match(ill.body, /"localEndpoints": 3,\n\t"serviceProxyHealthy": false/);
  });

  it('counts each family separately', async (t) => {
    const { servers } = stage(t, { IPv4: 'all', IPv6: 'all' });
    const port = await freePort();
    servers.onHealthCheck('default/web', check(port, { IPv4: 1, IPv6: 2 }));
    const weight = ({ headers }: Heard) => headers.get('x-load-balancing-endpoint-weight');
    assert.equal(weight(await answers(port)), '1');
    assert.equal(weight(await answers(port, '[::1]')), '2');
  });

  it('closes with the Service, and moves with the port and the addresses', async (t) => {
    const { servers } = stage(t);
    const [first, second] = [await freePort(), await freePort()];
    servers.onHealthCheck('default/web', check(first, { IPv4: 1, IPv6: 1 }));
    await answers(first);
    servers.onHealthCheck('default/web', check(second, { IPv4: 1, IPv6: 1 }));
    await answers(second);
    await refuses(first);
    servers.onConfigured({ nodePortAddresses: { IPv4: [], IPv6: ['::1'] } });
    await refuses(second);
    assert.equal((await answers(second, '[::1]')).status, 200);
    servers.onHealthCheck('default/web', undefined);
    await refuses(second, '[::1]');
  });

  it('moves from one Service to another without a failure', async (t) => {
    const { servers, failures } = stage(t);
    const port = await freePort();
    servers.onHealthCheck('default/a', check(port, { IPv4: 1 }, 'a'));
    // Also while the first is still being opened.
    servers.onHealthCheck('default/a', undefined);
    servers.onHealthCheck('default/b', check(port, { IPv4: 1 }, 'b'));
    await until('the second Service', async () => /"name": "b"/.test((await answers(port)).body));
    servers.onHealthCheck('default/b', undefined);
    servers.onHealthCheck('default/a', check(port, { IPv4: 1 }, 'a'));
    await until('the first Service', async () => /"name": "a"/.test((await answers(port)).body));
    assert.deepEqual(failures, []);
  });

  it('that is in use is reported once, and bound as soon as it is free', async (t) => {
    const scene = stage(t);
    const { servers, failures } = scene;
    const other = net.createServer();
    await once(other.listen(0, '127.0.0.1'), 'listening');
    const { port } = other.address() as net.AddressInfo;
    servers.onHealthCheck('default/web', check(port, { IPv4: 1 }));
    await until('some tries', () => scene.retryCount > 2);
    other.close();
    assert.equal((await answers(port)).status, 200);
    assert.equal(failures.length, 1);
    const [failure] = failures;
    assert.equal(failure?.namespace, 'default');
    assert.equal(failure?.name, 'web');
    assert.equal(failure?.port, port);
    assert.equal(failure?.error.code, 'SERVER_LISTEN');
  });

  it('is closed before the first sync', async (t) => {
    const isHealthy = (): boolean => true;
    const facts = () => ({ nodePortAddresses: LOOPBACK });
    const onListenFailure = ({ error }: ServiceListenFailure): void => assert.ifError(error);
    const onProblem = assert.ifError;
    const servers = new ServiceHealthServers({
      facts,
      isHealthy,
      budget: budgetOfTest(),
      onListenFailure,
      onProblem,
    });
    t.after(() => servers.close());
    const port = await freePort();
    servers.onHealthCheck('default/web', check(port, { IPv4: 1 }));
    await refuses(port);
    servers.onFirstSync();
    assert.equal((await answers(port)).status, 200);
  });

  it('stays closed after the end', async (t) => {
    const { servers } = stage(t);
    const port = await freePort();
    servers.onHealthCheck('default/web', check(port, { IPv4: 1 }));
    await answers(port);
    servers.close();
    servers.onHealthCheck('default/web', check(port, { IPv4: 1 }));
    await refuses(port);
  });
});
