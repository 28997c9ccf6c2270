import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { tryRun } from '../../../lab/host/run.ts';
import { until } from '../../../lab/host/until.ts';
import { readStatus } from '../../../src/agent/servers/status-client.ts';
import { FORWARDER_ADDRESSES } from '../../../src/dataplanes/shared/forwarder-addresses.ts';
import { enterOwnNetwork, run } from '../../../src/linux/netlink/testing/own-namespace.ts';
import type { ForwarderPage } from '../../../src/wings/userspace/userspace-status-words.ts';
import { type LimitedProxy, startLimited } from '../deploy/limited-proxy.ts';

const SYNCED = 'every Service is in the kernel';
const AS_NOBODY = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] as const;
const CLUSTER_IP = '10.96.0.50';
const DEADLINE_MS = 20_000;

const objects = (port: number): string => `
apiVersion: v1
kind: Service
metadata: { name: a, namespace: default }
spec: { clusterIP: ${CLUSTER_IP}, clusterIPs: [${CLUSTER_IP}], ports: [{ port: 80 }] }
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { name: a, namespace: default, labels: { kubernetes.io/service-name: a } }
addressType: IPv4
ports: [{ port: ${port} }]
endpoints: [{ addresses: [10.1.0.1], conditions: { ready: true } }]
`;

const CONFIG = `
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: nftables
oomScoreAdj: 0
conntrack: { maxPerCore: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s }
fairlead: { nodeObject: none, mode: userspace, serviceRanges: [10.96.0.0/16] }
`;

describe('the forwarder, with the capability of the manifests', () => {
  const server = createServer((_, response) => response.end('here'));
  let folder = '';
  let runFolder = '';
  let proxy: LimitedProxy;

  before(async () => {
    enterOwnNetwork();
    run(['ip', 'address', 'add', '10.1.0.1/32', 'dev', 'lo']);
    run(['ip', 'route', 'add', '10.96.0.0/16', 'dev', 'lo']);
    await new Promise<void>((resolve) => server.listen(0, '10.1.0.1', resolve));
    folder = await mkdtemp(join(tmpdir(), 'fairlead-forwarder-'));
    runFolder = join(folder, 'run');
    // Like /run: every user may enter it.
    await chmod(folder, 0o755);
    const { port } = server.address() as AddressInfo;
    await writeFile(join(folder, 'objects.yaml'), objects(port));
    await writeFile(join(folder, 'config.yaml'), CONFIG);
    proxy = startLimited({
      capabilities: ['NET_ADMIN'],
      args: [
        `--filename=${join(folder, 'objects.yaml')}`,
        `--config=${join(folder, 'config.yaml')}`,
        `--run-folder=${runFolder}`,
      ],
    });
    await proxy.says(SYNCED);
    await until(async () => (await status())?.forwarder?.newConnectionsTo === 'forwarder', {
      what: 'the forwarder to take connections',
      deadlineMs: DEADLINE_MS,
    });
  });
  after(async () => {
    server.close();
    const pid = (await status())?.forwarder?.process?.pid;
    await proxy[Symbol.asyncDispose]();
    // It outlives the agent, as it should.
    if (pid !== undefined) process.kill(pid, 'SIGKILL');
    await rm(folder, { recursive: true });
  });

  async function status(): Promise<ForwarderPage | undefined> {
    const socketPath = join(runFolder, 'status.sock');
    return (await readStatus({ socketPath }).catch(() => undefined)) as ForwarderPage | undefined;
  }

  function listeners(): string[] {
    const lines = run(['ss', '-H', '-l', '-t', '-n']).trim().split('\n');
    return lines.map((line) => line.trim().split(/\s+/)[3] ?? '').sort();
  }

  function ownListeners(): string[] {
    return listeners().filter((place) => place.startsWith(FORWARDER_ADDRESSES.IPv4));
  }

  it('serves a Service', async () => {
    const answer = await fetch(`http://${CLUSTER_IP}/`, { headers: { connection: 'close' } });
    assert.equal(await answer.text(), 'here');
    assert.equal((await status())?.forwarder?.process?.totals.connections, 1);
  });

  it('listens on no address of the machine, only on its own', () => {
    assert.equal(ownListeners().length, 3);
    const { port } = server.address() as AddressInfo;
    const known = [`10.1.0.1:${port}`, '127.0.0.1:10249', '127.0.0.1:10256'];
    const others = listeners().filter((place) => !known.includes(place));
    const own = Object.values(FORWARDER_ADDRESSES);
    for (const place of others)
      assert.ok(
        own.some((address) => place.includes(address)),
        place,
      );
  });

  it('answers no connection that is made to it directly', async () => {
    const ports = ownListeners().map((place) => Number(place.split(':').at(-1)));
    const fates = await Promise.all(
      ports.map((port) => fateOf(connect(port, FORWARDER_ADDRESSES.IPv4))),
    );
    assert.deepEqual(fates, ['no answer', 'no answer', 'no answer']);
    assert.equal((await status())?.forwarder?.process?.totals.open, 0);
  });

  it('lets only root at its sockets', async () => {
    for (const name of ['forwarder.sock', 'forwarder-handover.sock']) {
      assert.equal((await stat(join(runFolder, name))).mode & 0o777, 0o600, name);
    }
    const socket = join(runFolder, 'forwarder.sock');
    const asked = await tryRun([...AS_NOBODY, 'curl', '-s', '--unix-socket', socket, 'http://x/']);
    assert.equal(asked.exitCode, 7);
  });

  it('opens no debugger after the signal that makes Node open one', async () => {
    const pid = (await status())?.forwarder?.process?.pid ?? 0;
    const before = listeners();
    process.kill(pid, 'SIGUSR1');
    // Either it says that there is none, or Node says where it listens.
    const isTaken = async (): Promise<boolean> => /debugger/i.test(await proxy.says(SYNCED));
    await until(isTaken, { what: 'the signal to be taken', deadlineMs: DEADLINE_MS });
    assert.deepEqual(listeners(), before);
  });
});

/** How the connection ends: the code of its error, or `end`. */
/** Longer than two retransmissions of the first packet. */
const SILENCE_MS = 4_000;

async function fateOf(socket: Socket): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  socket.on('connect', () => resolve('accepted'));
  socket.setTimeout(SILENCE_MS, () => resolve('no answer'));
  return await promise.finally(() => socket.destroy());
}
