import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { StreamFlow } from '../../../conformance/questions/tcp.ts';
import { type EndpointSlice, paths, type Service } from '../../../lab/api/objects.ts';
import type { Daemon } from '../../../lab/host/processes.ts';
import { until } from '../../../lab/host/until.ts';
import { SERVICE_CIDR } from '../../../lab/network/plan.ts';
import type { ProxyVariant } from '../../../lab/proxies/contract.ts';
import { FAIRLEAD_VARIANTS } from '../../../lab/proxies/fairlead.ts';
import { startProxy } from '../../../lab/proxies/running.ts';
import { httpGet } from '../../../lab/servers/http-get.ts';
import { readStatus } from '../../../src/agent/servers/status-client.ts';
import type { StatusPage } from '../../../src/agent/status-page.ts';
import { statusView } from '../../../src/commands/status/status-view.ts';
import { STATUS_SOCKET } from '../../../src/config/run-folder.ts';
import { ScopeLab, WAIT_MS } from './scope-lab.ts';

const LONG_MS = 240_000;
const HEALTH_PORT = 10_256;
const CONFIGURED = {
  nodeObject: 'none',
  zone: 'zone-a',
  scope: { namespaces: ['shop', 'billing', 'misspelt'], services: [] },
  serviceRanges: [SERVICE_CIDR.ipv4, SERVICE_CIDR.ipv6],
};

/** The first mode, on a machine without a Node object and with the rights of the account. */
function scoped(stage: ScopeLab): ProxyVariant {
  const [variant] = FAIRLEAD_VARIANTS;
  assert.ok(variant);
  return {
    ...variant,
    async prepare(place) {
      const command = await variant.prepare(place);
      const file = join(place.folder, 'fairlead.json');
      const written = JSON.parse(await readFile(file, 'utf8')) as { fairlead?: object };
      const clientConnection = { kubeconfig: stage.kubeconfig };
      const fairlead = { ...written.fairlead, ...CONFIGURED };
      await writeFile(file, JSON.stringify({ ...written, clientConnection, fairlead }));
      return command;
    },
  };
}

describe('fairlead run with a scope and Roles only', { timeout: LONG_MS }, () => {
  let stage: ScopeLab;
  let proxy: Daemon;
  const addresses = new Map<string, string>();

  const declare = async (namespace: string, name: string, spec: object = {}): Promise<void> => {
    const { lab } = stage;
    await lab.pods.run({
      namespace,
      name,
      nodeIndex: 1,
      labels: { app: name },
      ports: [{ port: 8080, protocol: 'TCP' }],
      ready: true,
      hostNetwork: false,
      server: 'own',
    });
    const service = await lab.api.create<Service>(paths.services(namespace), {
      metadata: { name },
      spec: { selector: { app: name }, ports: [{ port: 80, targetPort: 8080 }], ...spec },
    });
    addresses.set(name, service.spec.clusterIP ?? '');
    await lab.slices.until(namespace, {
      what: `an endpoint of ${name}`,
      holds: (slices) => slices.some((slice) => isOf(slice, name)),
    });
  };

  before(async () => {
    stage = await ScopeLab.start();
    const { lab } = stage;
    for (const name of ['shop', 'billing', 'other', 'misspelt']) {
      await lab.api.create(paths.namespaces, { metadata: { name } });
    }
    await declare('shop', 'web');
    await declare('shop', 'near', { internalTrafficPolicy: 'Local' });
    await declare('billing', 'pay');
    await declare('other', 'noise');
    await stage.grant('shop');
    await stage.grant('misspelt');
    proxy = await startProxy({
      lab: lab.name,
      variant: scoped(stage),
      nodeName: 'machine',
      credentials: lab.credentials,
      labFolder: lab.folder,
      logFolder: join(lab.folder, 'logs'),
      settings: {},
      sockets: undefined,
    });
  });

  after(async () => {
    await proxy?.stop();
    await stage?.[Symbol.asyncDispose]();
  });

  const ask = async (name: string): Promise<string> => {
    const origin = { namespace: stage.lab.namespacePath('machine') };
    const flow = StreamFlow.overTcp(origin, { address: addresses.get(name) ?? '', port: 80 });
    try {
      const outcome = await flow.ask();
      return outcome.kind === 'answered' ? `answered by ${outcome.by}` : outcome.kind;
    } finally {
      flow.close();
    }
  };
  const page = async (): Promise<StatusPage> => {
    const socketPath = join(stage.lab.folder, 'proxies', 'machine', 'run', STATUS_SOCKET);
    return (await readStatus({ socketPath })) as StatusPage;
  };
  const readyStatus = async (): Promise<number> => {
    const origin = { namespace: stage.lab.namespacePath('machine') };
    const to = { address: '127.0.0.1', port: HEALTH_PORT, path: '/readyz' };
    return (await httpGet(origin, to)).status;
  };

  it('serves the namespaces that it may read, and is not ready without the others', async () => {
    assert.equal(await ask('web'), 'answered by web');
    assert.notEqual(await ask('pay'), 'answered by pay');
    assert.notEqual(await ask('noise'), 'answered by noise');
    assert.equal(await readyStatus(), 503);
    const status = await page();
    assert.deepEqual(status.scope?.empty, ['namespace misspelt']);
    assert.equal(status.node.zone, 'zone-a');
    const text = stripVTControlCharacters(statusView(status, { width: 200 }));
    assert.match(
      text,
      /! a part of fairlead\.scope cannot be read: not allowed to read Services of namespace billing/,
    );
    assert.match(text, /^zone: zone-a$/m);
    assert.match(text, /^scope: namespaces shop, billing, misspelt$/m);
    assert.match(text, /^no Service found in namespace misspelt$/m);
  });

  it('names both namespaces in its log', async () => {
    const log = await readFile(proxy.logFile, 'utf8');
    assert.match(log, /cannot watch resource \\*"services\\*".*namespace \\*"billing/);
    assert.match(log, /no Service found in parts of fairlead\.scope.*namespace misspelt/);
  });

  it('rejects a Service with policy Local at once', async () => {
    assert.equal(await ask('near'), 'refused');
  });

  it('serves a namespace once it is granted, and is ready then', async () => {
    await stage.grant('billing');
    const isServed = async (): Promise<boolean> => (await ask('pay')) === 'answered by pay';
    await until(isServed, { what: 'the namespace', deadlineMs: WAIT_MS });
    await until(async () => (await readyStatus()) === 200, { what: 'ready', deadlineMs: WAIT_MS });
  });

  it('posts no Events, and is denied nothing else', async () => {
    const requests = await stage.requests();
    assert.deepEqual(
      requests.filter(({ verb }) => verb !== 'watch' && verb !== 'list' && verb !== 'get'),
      [],
    );
    const rejected = requests.filter(({ responseStatus }) => (responseStatus?.code ?? 200) >= 400);
    assert.ok(rejected.length > 0);
    for (const { requestURI } of rejected) assert.match(requestURI, /\/namespaces\/billing\//);
  });
});

function isOf({ metadata, endpoints }: EndpointSlice, service: string): boolean {
  const isOwn = metadata.labels?.['kubernetes.io/service-name'] === service;
  return isOwn && (endpoints ?? []).length > 0;
}
