import assert from 'node:assert/strict';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { after, before, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { KernelConntrack } from '../linux/conntrack/conntrack.ts';
import { enterOwnNetwork, ip, run } from '../linux/netlink/testing/own-namespace.ts';
import type { FlowRun } from './flow-observer.ts';
import { FlowReconciler } from './flow-reconciler.ts';
import { change, row } from './testing/flow-rows.ts';

/** A real host that has the address before a Service gets it. */
const HOST = '198.51.100.20';
const POD = '10.244.0.1';
const SERVED = row({
  ...{ service: 'web', protocol: 'TCP', frontends: [`${HOST} 80`] },
  endpoints: [`${POD} 8080`],
});
const DEADLINE_MS = 20_000;

let host: Server;
let endpoint: Server;
/** The network namespace of that host. */
let hostNetwork: number;

before(async () => {
  // A socket stays in the network that it was made in.
  enterOwnNetwork();
  hostNetwork = openSync('/proc/thread-self/ns/net', 'r');
  host = await answering('the host', 80, '0.0.0.0');
  enterOwnNetwork();
  ip(
    'link add out type veth peer name in',
    'addr add 10.0.0.1/24 dev out',
    'link set out up',
    `link set in netns ${hostPath()}`,
    'route add default via 10.0.0.2',
    `addr add ${POD}/32 dev lo`,
  );
  onHost('ip', 'link', 'set', 'lo', 'up');
  onHost('ip', 'link', 'set', 'in', 'up');
  onHost('ip', 'addr', 'add', '10.0.0.2/24', 'dev', 'in');
  onHost('ip', 'addr', 'add', `${HOST}/32`, 'dev', 'lo');
  ip(`neigh replace 10.0.0.2 lladdr ${hardwareAddress(onHost, 'in')} dev out nud permanent`);
  // ARP is dropped, so the host cannot send its answers until the test adds the neighbour entry.
  run(
    ['nft', '-f', '-'],
    `table arp silence { chain i { type filter hook input priority 0; policy drop; }; }
     table ip t {
       chain tracked { type filter hook output priority 0; ct state invalid drop; }
       chain out { type nat hook output priority -100; }
     }
    `,
  );
  endpoint = await answering('the endpoint', 8080, POD);
});

after(() => {
  endpoint.close();
  host.close();
  closeSync(hostNetwork);
});

async function answering(name: string, port: number, address: string): Promise<Server> {
  const server = createServer((socket) => socket.on('error', () => socket.destroy()).end(name));
  await once(server.listen(port, address), 'listening');
  return server;
}

function hostPath(): string {
  return `/proc/${process.pid}/fd/${hostNetwork}`;
}

function onHost(...argv: string[]): string {
  return run(['nsenter', `--net=${hostPath()}`, ...argv]);
}

function hardwareAddress(on: (...argv: string[]) => string, device: string): string {
  const address = /link\/ether (\S+)/.exec(on('ip', 'link', 'show', device))?.[1];
  assert.ok(address);
  return address;
}

async function untilTried(): Promise<void> {
  const endAtMs = performance.now() + DEADLINE_MS;
  while (!/SYN_SENT .*UNREPLIED/.test(run(['conntrack', '-L', '-p', 'tcp', '-d', HOST]))) {
    assert.ok(performance.now() < endAtMs, 'the SYN is not tracked');
    await delay(1);
  }
}

it('a connection attempt to a real host survives when a Service gets the address', async (test) => {
  const looked = Promise.withResolvers<FlowRun>();
  const reconciler = new FlowReconciler({
    conntrack: new KernelConntrack(),
    nodePortAddresses: () => [],
    observer: { onDeleted: () => undefined, onRun: looked.resolve },
    options: {},
  });
  const aborter = new AbortController();
  const ended = reconciler.run(aborter.signal);
  test.after(async () => {
    aborter.abort();
    await ended;
  });
  const client = connect(80, HOST);
  test.after(() => client.destroy());
  const answered = once(client, 'data', { signal: AbortSignal.timeout(DEADLINE_MS) });
  await untilTried();
  const rule = `ip daddr ${HOST} tcp dport 80 dnat to ${POD}:8080`;
  run(['nft', '-f', '-'], `add rule ip t out ${rule}`);
  reconciler.acknowledged([change(undefined, SERVED)]);
  const { youngTries, deleted } = await looked.promise;
  const ours = hardwareAddress((...argv) => run(argv as [string, ...string[]]), 'out');
  onHost('ip', 'neigh', 'replace', '10.0.0.1', 'lladdr', ours, 'dev', 'in', 'nud', 'permanent');
  assert.equal(String((await answered)[0]), 'the host');
  assert.deepEqual([youngTries, deleted], [1, 0]);
});
