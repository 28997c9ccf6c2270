import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { type MetricsServerOptions, runMetricsServer } from './metrics-server.ts';
import { ask, serve } from './testing/serve-pages.ts';
import { budgetOfTest } from './testing/serving-server.ts';

const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

async function started(t: TestContext, more: Partial<MetricsServerOptions> = {}): Promise<string> {
  const { port } = await serve(t, (hooks, signal) =>
    runMetricsServer(
      {
        listen: { ip: '127.0.0.1', port: 0 },
        endsWhenServerFails: false,
        budget: budgetOfTest(),
        mode: 'nftables',
        metrics: {
          contentType: CONTENT_TYPE,
          render: async () => 'all 1\n',
          renderSlis: async () => 'slis 1\n',
        },
        configuration: () => ({ kind: 'KubeProxyConfiguration', mode: 'nftables' }),
        ...more,
        ...hooks,
      },
      signal,
    ),
  );
  return `http://127.0.0.1:${port}`;
}

it('answers what tools ask kube-proxy', async (t) => {
  const url = await started(t);
  const healthz = await ask(`${url}/healthz`);
  assert.equal(healthz.body, 'ok');
  assert.equal(healthz.headers.get('content-type'), 'text/plain; charset=utf-8');
  assert.equal(healthz.headers.get('x-content-type-options'), 'nosniff');
  assert.equal((await ask(`${url}/proxyMode`)).body, 'nftables');
  const configz = await ask(`${url}/configz`);
  assert.equal(configz.headers.get('content-type'), 'application/json');
  assert.equal(
    configz.body,
    '{"kubeproxy.config.k8s.io":{"kind":"KubeProxyConfiguration","mode":"nftables"}}',
  );
  const metrics = await ask(`${url}/metrics`);
  assert.equal(metrics.headers.get('content-type'), CONTENT_TYPE);
  assert.equal(metrics.body, 'all 1\n');
  assert.equal((await ask(`${url}/metrics/slis`)).body, 'slis 1\n');
});

it('has the debugging pages only where they are enabled', async (t) => {
  const without = await started(t);
  assert.equal((await ask(`${without}/flagz`)).status, 404);
  assert.equal((await ask(`${without}/statusz`)).status, 404);

  const flags = (): Record<string, string> => ({ v: '2', 'bind-address': '0.0.0.0' });
  const upMs = 3_723_999;
  const clock = {
    monotonicMs: (): number => 5_000 + upMs,
    wallMs: (): number => Date.UTC(2026, 10, 15, 9, 28, 6) + upMs,
  };
  const statusz = { version: '1.2.3', startedAtMs: 5_000, clock };
  const url = await started(t, { flagz: { flags }, statusz });
  const flagz = await ask(`${url}/flagz`);
  assert.match(flagz.body, /^\nfairlead flagz\nWarning: .*\nbind-address: 0\.0\.0\.0\nv: 2\n$/);
  const { body } = await ask(`${url}/statusz`);
  assert.match(body, /^\nfairlead statusz\nWarning: /);
  assert.match(body, /\nStarted {2}Sun, 15 Nov 2026 09:28:06 GMT\nUp {2}1 hr 02 min 03 sec\n/);
  assert.match(body, /\nBinary version {2}1\.2\.3\n/);
  assert.match(
    body,
    /\nPaths {2}\/configz \/flagz \/healthz \/metrics \/metrics\/slis \/proxyMode\n$/,
  );
});
