import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { Daemon } from '../../../lab/host/processes.ts';
import { until } from '../../../lab/host/until.ts';
import { enterOwnNetwork, ip, run } from '../../../src/linux/netlink/testing/own-namespace.ts';
import { startFairlead, untilSynced } from '../fairlead-process.ts';

/** Outside of the cluster IP range, where a mode may reject addresses without a Service. */
const EXTERNAL = '198.51.100.20';
const POD = '10.244.0.1';
const CLIENT_PORT = 45_000;
/** A SYN is sent again after seconds, then after ever more; on a busy machine it may be a late one. */
const DEADLINE_MS = 70_000;

const MANIFESTS = {
  apiVersion: 'v1',
  kind: 'List',
  items: [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web', namespace: 'default', uid: 'web' },
      spec: {
        clusterIP: '10.96.0.20',
        clusterIPs: ['10.96.0.20'],
        ipFamilies: ['IPv4'],
        externalIPs: [EXTERNAL],
        ports: [{ port: 80, targetPort: 8080, protocol: 'TCP' }],
      },
    },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        name: 'web-1',
        namespace: 'default',
        labels: { 'kubernetes.io/service-name': 'web' },
      },
      addressType: 'IPv4',
      ports: [{ name: '', port: 8080, protocol: 'TCP' }],
      endpoints: [{ addresses: [POD], conditions: { ready: true } }],
    },
  ],
};

/** A node that silently loses packets to addresses without a Service. */
function makeNode(): void {
  enterOwnNetwork();
  ip(
    `addr add ${POD}/32 dev lo`,
    'link add out type veth peer name void',
    'link set void up',
    'link set out up',
    'addr add 10.0.0.1/24 dev out',
    'neigh add 10.0.0.254 lladdr 02:00:00:00:00:99 dev out nud permanent',
    'route add default via 10.0.0.254',
  );
  // Like a node's firewall: connections are tracked before there is a proxy.
  const rule = 'type filter hook output priority 0\nct state invalid drop';
  run(['nft', '-f', '-'], `table ip somebody {\nchain output {\n${rule}\n}\n}\n`);
}

/** Whether the first SYN of the client has left a memory of a flow that is not translated. */
async function isTryTracked(): Promise<boolean> {
  const line = run(['conntrack', '-L', '-p', 'tcp', '--sport', String(CLIENT_PORT)]);
  return /SYN_SENT .*UNREPLIED/.test(line) && line.includes(` src=${EXTERNAL} `);
}

for (const mode of ['nftables', 'iptables']) {
  describe(`fairlead run, ${mode} mode: a client that connects too early`, () => {
    let folder: string;
    let server: Server;
    let client: Socket;
    let proxy: Daemon;

    beforeEach(async () => {
      makeNode();
      folder = mkdtempSync(join(tmpdir(), 'fairlead-early-'));
      mkdirSync(join(folder, 'objects'));
      server = createServer((socket) => {
        socket.on('error', () => socket.destroy()).end('web');
      }).listen(8080, POD);
      await once(server, 'listening');
    });

    afterEach(async () => {
      client.destroy();
      server.close();
      await proxy.stop();
      rmSync(folder, { recursive: true });
    });

    function startProxy(): void {
      const objects = join(folder, 'objects');
      const flags = [
        ...['--proxy-mode', mode, '--hostname-override', 'node1', '--bind-address', '10.0.0.1'],
        ...['--conntrack-max-per-core', '0'],
      ];
      proxy = startFairlead({ mode, folder, objects, flags });
    }

    /** Complete at once: the file is watched. */
    function declareService(): void {
      writeFileSync(join(folder, 'web.json'), JSON.stringify(MANIFESTS));
      renameSync(join(folder, 'web.json'), join(folder, 'objects', 'web.json'));
    }

    async function connectTooEarly(): Promise<void> {
      client = connect({ host: EXTERNAL, port: 80, localPort: CLIENT_PORT });
      await until(isTryTracked, { what: 'the first SYN to be tracked', deadlineMs: DEADLINE_MS });
    }

    /** What the one call of connect() comes to. */
    async function outcome(): Promise<string> {
      const signal = AbortSignal.timeout(DEADLINE_MS);
      const [answer] = await once(client, 'data', { signal });
      return String(answer);
    }

    it('before the proxy is started is connected by a later SYN', async () => {
      declareService();
      await connectTooEarly();
      startProxy();
      assert.equal(await outcome(), 'web');
    });

    it('before its Service is there is connected by a later SYN', async () => {
      startProxy();
      await untilSynced(proxy, folder);
      await connectTooEarly();
      declareService();
      assert.equal(await outcome(), 'web');
    });
  });
}
