import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { paths } from '../../lab/api/objects.ts';
import type { Daemon } from '../../lab/host/processes.ts';
import { dialTcp } from '../../lab/host/sockets.ts';
import { until } from '../../lab/host/until.ts';
import { type Lab, startLab } from '../../lab/lab.ts';
import { ApiSource } from '../../src/cluster/api-source.ts';
import { loadKubeconfig } from '../../src/cluster/kubeconfig/load-kubeconfig.ts';
import type { ObjectKey } from '../../src/cluster/object-kinds.ts';
import type { SourceEvent } from '../../src/cluster/source.ts';

const LONG_MS = 180_000;
const WAIT_MS = 60_000;
/** Short, so that a server that stands still is noticed in a second rather than half a minute. */
const KEEP_ALIVE = { quietMs: 300, answerMs: 700 };

/** The role that kube-proxy has, from a node: proof that it is enough. */
async function sourceOn(lab: Lab): Promise<ApiSource> {
  const access = await loadKubeconfig({ files: [lab.credentials.proxyKubeconfig] });
  const namespace = lab.namespacePath('node1');
  return new ApiSource({
    connection: {
      access,
      dial: (address, port) => dialTcp({ namespace }, { address, port }),
      keepAlive: KEEP_ALIVE,
      connectDeadlineMs: 2_000,
    },
    nodeName: 'node1',
  });
}

/** Follows a source and records its events. */
class Listener {
  readonly events: SourceEvent[] = [];
  readonly source: ApiSource;
  readonly #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(source: ApiSource) {
    this.source = source;
  }

  async start(): Promise<void> {
    this.#running = this.source.run((event) => this.events.push(event), this.#stop.signal);
    const isSynced = (): boolean =>
      this.events.filter(({ type }) => type === 'synced').length === 4;
    await until(isSynced, { what: 'all four kinds', deadlineMs: WAIT_MS });
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  of(...keys: ObjectKey[]): string[] {
    return this.events.flatMap((event) =>
      event.type !== 'synced' && keys.includes(event.key)
        ? [`${event.kind} ${event.type} ${event.key}`]
        : [],
    );
  }

  async hears(expected: readonly string[], ...keys: ObjectKey[]): Promise<void> {
    const isThere = (): boolean => this.of(...keys).length >= expected.length;
    await until(isThere, { what: expected.join(', '), deadlineMs: WAIT_MS });
    assert.deepEqual(this.of(...keys), expected);
  }

  isConnected(): boolean {
    return this.source.health().every(({ connected }) => connected);
  }
}

function service(name: string, parts: object = {}): object {
  return { metadata: { name }, spec: { ports: [{ port: 80 }], ...parts } };
}

function slice(name: string): object {
  const labels = { 'kubernetes.io/service-name': 'web' };
  const endpoints = [{ addresses: ['10.129.0.9'], nodeName: 'node1', conditions: {} }];
  return { metadata: { name, labels }, addressType: 'IPv4', endpoints, ports: [{ port: 8080 }] };
}

function apiServerOf(lab: Lab): Daemon {
  const found = lab.daemons.find(({ name }) => name === 'kube-apiserver');
  assert.ok(found, 'the lab has an API server');
  return found;
}

describe('the API server as a source', { timeout: LONG_MS }, () => {
  let lab: Lab;
  let listener: Listener;

  before(async () => {
    lab = await startLab({ nodeCount: 1 });
    await lab.api.create(paths.services('default'), service('first'));
    listener = new Listener(await sourceOn(lab));
    await listener.start();
  });

  after(async () => {
    await listener?.stop();
    await lab?.[Symbol.asyncDispose]();
  });

  it('first delivers what exists', () => {
    const objects = new Map(
      listener.events.flatMap((event) =>
        event.type === 'put' ? [[`${event.kind} ${event.key}`, event.object] as const] : [],
      ),
    );
    assert.ok(objects.has('service default/first'));
    assert.deepEqual(objects.get('serviceCidr kubernetes'), {
      name: 'kubernetes',
      cidrs: ['10.96.0.0/12', 'fd00:96::/108'],
    });
    assert.deepEqual(objects.get('node node1'), {
      name: 'node1',
      zone: 'zone-a',
      addresses: ['172.30.1.1', 'fd00:30::1:1'],
      podCIDRs: ['10.129.0.0/16', 'fd00:128:1::/64'],
      deleting: false,
      // Put on by the API server itself, because it was registered before it was ready.
      taintKeys: ['node.kubernetes.io/not-ready'],
    });
  });

  it('delivers what is created, changed and deleted, and nothing else', async () => {
    const { api } = lab;
    await api.create(paths.services('default'), service('headless', { clusterIP: 'None' }));
    await api.create(paths.services('default'), service('web'));
    await api.create(paths.slices('default'), slice('web-1'));
    await api.patch(paths.service('default', 'web'), { spec: { internalTrafficPolicy: 'Local' } });
    await api.delete(paths.slice('default', 'web-1'));
    const label = { 'service.kubernetes.io/service-proxy-name': 'other' };
    await api.patch(paths.service('default', 'web'), { metadata: { labels: label } });
    await listener.hears(
      ['service put default/web', 'service put default/web', 'service delete default/web'],
      'default/web',
      'default/headless',
    );
    await listener.hears(
      ['slice put default/web-1', 'slice delete default/web-1'],
      'default/web-1',
    );
    const last = listener.events.findLast(
      (event) => event.type === 'put' && event.key === 'default/web',
    );
    assert.ok(last?.type === 'put' && last.kind === 'service');
    assert.equal(last.object.internalTrafficPolicy, 'Local');
  });

  it('detects a stalled server, and continues when it resumes', async () => {
    const server = apiServerOf(lab);
    server.freeze();
    try {
      const isLost = (): boolean => !listener.isConnected();
      await until(isLost, { what: 'the loss to be noticed', deadlineMs: WAIT_MS });
      assert.ok(listener.source.health().every(({ lastError }) => lastError !== undefined));
    } finally {
      server.thaw();
    }
    await lab.api.create(paths.services('default'), service('thawed'));
    await listener.hears(['service put default/thawed'], 'default/thawed');
    const back = { what: 'all kinds to be back', deadlineMs: WAIT_MS };
    await until(() => listener.isConnected(), back);
    const again = listener.of('default/first').filter((event) => event.startsWith('service'));
    assert.deepEqual(again, ['service put default/first'], 'what is known is not told again');
  });

  it('continues after the server was killed and restarted', async () => {
    const server = apiServerOf(lab);
    await server.kill();
    await until(() => !listener.isConnected(), { what: 'the loss', deadlineMs: WAIT_MS });
    server.startAgain();
    const create = () =>
      lab.api.create(paths.services('default'), service('reborn')).catch(() => undefined);
    await until(create, { what: 'the server to take objects', deadlineMs: WAIT_MS });
    await lab.api.delete(paths.service('default', 'thawed'));
    await listener.hears(['service put default/reborn'], 'default/reborn');
    await listener.hears(
      ['service put default/thawed', 'service delete default/thawed'],
      'default/thawed',
    );
    const back = { what: 'all kinds to be back', deadlineMs: WAIT_MS };
    await until(() => listener.isConnected(), back);
  });
});
