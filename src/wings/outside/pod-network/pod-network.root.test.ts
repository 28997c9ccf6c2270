import assert from 'node:assert/strict';
import { Resolver } from 'node:dns/promises';
import net from 'node:net';
import { text } from 'node:stream/consumers';
import { before, it } from 'node:test';
import type { SliceObject } from '../../../cluster/objects.ts';
import type { Source, SourceEvent } from '../../../cluster/source.ts';
import { openAccess } from '../../../cluster/testing/open-access.ts';
import { enterOwnNetwork, run } from '../../../linux/netlink/testing/own-namespace.ts';
import { SILENT_LOGGER } from '../../../log/testing/silent-logger.ts';
import { PortForwardServer } from '../port-forward/testing/port-forward-server.ts';
import { POD_NETWORKS } from './pod-network.ts';

const POD = '10.244.1.5';
const CLUSTER_IP = '10.96.0.20';
const STUB = { ip: '127.0.0.1', port: 1053 };
const DEADLINE_MS = 20_000;

before(enterOwnNetwork);

function put(addresses: readonly string[]): SourceEvent {
  const endpoint = { ready: true, serving: true, terminating: false };
  const object: SliceObject = {
    namespace: 'shop',
    name: 'web-a',
    service: 'web',
    headless: false,
    addressType: 'IPv4',
    ports: [{ name: '', protocol: 'TCP', port: 8080 }],
    endpoints: addresses.map((address) => ({ ...endpoint, address, podName: `pod-${address}` })),
  };
  return { kind: 'slice', type: 'put', key: 'shop/web-a', object };
}

const SERVICE = {
  kind: 'service',
  type: 'put',
  key: 'shop/web',
  object: { clusterIPs: [CLUSTER_IP] },
} as unknown as SourceEvent;

/** A source whose events the test sends. */
function sourceOf(): { source: Source; send: (event: SourceEvent) => void } {
  const listeners: ((event: SourceEvent) => void)[] = [];
  const source: Source = {
    run: async (onEvent) => void listeners.push(onEvent),
    health: () => [],
  };
  return {
    source,
    send: (event) => {
      for (const listener of listeners) listener(event);
    },
  };
}

async function get(address: string, port: number): Promise<string> {
  const socket = net.connect({ host: address, port, timeout: DEADLINE_MS });
  return await text(socket.end('x'));
}

async function until<T>(attempt: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + DEADLINE_MS;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
  }
}

it('carries TCP to pods that have no route, names their Services, and leaves nothing behind', async () => {
  const paths: (string | undefined)[] = [];
  await using server = await new PortForwardServer((connection) => {
    paths.push(server.requests.at(-1)?.url);
    connection.tunnel.reply(connection);
    connection.tunnel.data(connection.dataId, `port ${connection.port}`);
    connection.tunnel.end(connection);
  }).start();
  const network = POD_NETWORKS.open({
    access: openAccess(server.url),
    log: SILENT_LOGGER,
    dnsStub: STUB,
    clusterDomain: 'cluster.local',
  });
  const stop = new AbortController();
  const { source, send } = sourceOf();
  await network.tapped(source).run(() => undefined, stop.signal);
  const running = network.run(stop.signal);
  send(SERVICE);
  send(put([POD]));
  send({ kind: 'service', type: 'synced' });
  send({ kind: 'slice', type: 'synced' });

  const resolver = new Resolver({ timeout: 500, tries: 1 });
  resolver.setServers([`${STUB.ip}:${STUB.port}`]);
  const found = await until(() => resolver.resolve4('web.shop.svc.cluster.local'));
  assert.deepEqual(found, [CLUSTER_IP]);
  await assert.rejects(resolver.resolve4('no.shop.svc.cluster.local'), { code: 'ENOTFOUND' });
  await assert.rejects(resolver.resolve4('www.example.org'), { code: 'EREFUSED' });

  assert.equal(await get(POD, 8080), 'port 8080');
  assert.match(paths[0] ?? '', /namespaces\/shop\/pods\/pod-10.244.1.5\/portforward$/);
  // An address of a Service that no rule has translated, and a port of this machine.
  await assert.rejects(get(CLUSTER_IP, 80), { code: 'ECONNRESET' });
  await assert.rejects(get('127.0.0.1', 1), { code: 'ECONNREFUSED' });

  send(put(['10.244.1.6']));
  assert.equal(await until(() => get('10.244.1.6', 8080)), 'port 8080');
  await until(async () => {
    await assert.rejects(get(POD, 8080), { code: 'ENETUNREACH' });
  });

  stop.abort();
  await running;
  assert.equal(run(['ip', 'route', 'show', 'table', 'all', 'proto', '120']), '');
  assert.doesNotMatch(run(['ip', 'rule']), /lookup 120/);
});
