import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { KernelConntrack } from '../linux/conntrack/conntrack.ts';
import { enterOwnNetwork, ip, run } from '../linux/netlink/testing/own-namespace.ts';
import type { FlowRun } from './observer.ts';
import { type FlowOptions, FlowReconciler } from './reconciler.ts';
import { change, row } from './testing/rows.ts';

enterOwnNetwork();
ip(
  ...['10.244.0.1', '10.244.0.2', '10.9.9.9'].map((one) => `addr add ${one}/32 dev lo`),
  'route add local 10.96.0.0/16 dev lo',
);

const LOOSE = '/proc/sys/net/netfilter/nf_conntrack_tcp_loose';
const SKETCH = { service: 'web', protocol: 'TCP', frontends: ['10.96.0.20 80'] } as const;
const OLD = row({ ...SKETCH, endpoints: ['10.244.0.1 8080'] });
const NEW = row({ ...SKETCH, endpoints: ['10.244.0.2 8080'] });
/** So that there is a look to wait for where TCP is not looked at. */
const UDP = row({ service: 'dns', frontends: ['10.96.0.10 53'], endpoints: [] });

function forwardTo(address: string): void {
  run(
    ['nft', '-f', '-'],
    `flush ruleset
     table ip t {
       chain out {
         type nat hook output priority -100
         ip daddr 10.96.0.20 tcp dport 80 dnat to ${address}:8080
       }
     }
    `,
  );
}

describe('an established TCP connection whose endpoint is no longer chosen', () => {
  let servers: Server[] = [];
  let accepted: Socket[] = [];
  let client: Socket;

  beforeEach(async () => {
    writeFileSync(LOOSE, '1');
    servers = ['10.244.0.1', '10.244.0.2'].map((address) =>
      createServer((socket) => {
        accepted.push(socket);
        socket.on('error', () => socket.destroy()).pipe(socket);
      }).listen(8080, address),
    );
    await Promise.all(servers.map((server) => once(server, 'listening')));
    forwardTo('10.244.0.1');
    client = connect({ host: '10.96.0.20', port: 80, localAddress: '10.9.9.9' });
    await once(client, 'connect');
  });

  afterEach(() => {
    client.destroy();
    for (const server of servers) server.close();
    // The other end of a connection that was reset has not heard of it.
    for (const socket of accepted) socket.destroy();
    accepted = [];
    run(['conntrack', '-F']);
  });

  /** What becomes of the connection's next packet. */
  async function fate(options: FlowOptions): Promise<{ fate: string; ran: FlowRun }> {
    const aborter = new AbortController();
    const done = Promise.withResolvers<FlowRun>();
    const reconciler = new FlowReconciler({
      conntrack: new KernelConntrack(),
      nodePortAddresses: () => [],
      observer: { onDeleted: () => undefined, onRun: done.resolve },
      options,
    });
    forwardTo('10.244.0.2');
    reconciler.acknowledged([change(undefined, OLD)]);
    reconciler.acknowledged([change(OLD, NEW), change(undefined, UDP)]);
    const ended = reconciler.run(aborter.signal);
    const ran = await done.promise;
    aborter.abort();
    await ended;
    const { promise, resolve } = Promise.withResolvers<string>();
    client.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''));
    client.on('data', () => resolve('answered'));
    client.write('still there?');
    const late = setTimeout(() => resolve('silence'), 5000);
    return { fate: await promise.finally(() => clearTimeout(late)), ran };
  }

  const resetTcp = { resetsWithoutEndpoints: true };

  it('goes on, unless resetting is switched on', async () => {
    assert.equal((await fate({})).fate, 'answered');
  });

  it('is reset where that is switched on and the endpoint does not serve', async () => {
    const { fate: what, ran } = await fate({ isServing: () => false, resetTcp });
    assert.deepEqual([what, ran.deleted], ['ECONNRESET', 1]);
  });

  it('goes on while its endpoint serves', async () => {
    const isServing = (_: unknown, endpoint: { address: string; port: number }) =>
      endpoint.address === '10.244.0.1' && endpoint.port === 8080;
    const { fate: what, ran } = await fate({ isServing, resetTcp });
    assert.deepEqual([what, ran.draining], ['answered', 1]);
  });

  it('goes on where the kernel would lose it', async () => {
    writeFileSync(LOOSE, '0');
    const { fate: what, ran } = await fate({ isServing: () => false, resetTcp });
    assert.deepEqual([what, ran.tcpSkipped], ['answered', true]);
  });
});
