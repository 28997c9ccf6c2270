import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { KernelConntrack } from '../linux/conntrack/conntrack.ts';
import { enterOwnNetwork, ip, run } from '../linux/netlink/testing/own-namespace.ts';
import { FlowReconciler } from './flow-reconciler.ts';
import { change, row } from './testing/flow-rows.ts';

enterOwnNetwork();
ip(
  ...['10.244.0.1', '10.244.0.2', '10.9.9.9'].map((one) => `addr add ${one}/32 dev lo`),
  'route add local 10.96.0.0/16 dev lo',
);

const SKETCH = { service: 'web', protocol: 'TCP', frontends: ['10.96.0.20 80'] } as const;
const OLD = row({ ...SKETCH, endpoints: ['10.244.0.1 8080'] });
const NEW = row({ ...SKETCH, endpoints: ['10.244.0.2 8080'] });
/** Makes the reconciler run: it does not run for an endpoint of TCP alone. */
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

  async function nextPacketAnswer(): Promise<string> {
    const aborter = new AbortController();
    const done = Promise.withResolvers<unknown>();
    const reconciler = new FlowReconciler({
      conntrack: new KernelConntrack(),
      nodePortAddresses: () => [],
      observer: { onDeleted: () => undefined, onRun: done.resolve },
      options: { isServing: () => false },
    });
    forwardTo('10.244.0.2');
    reconciler.acknowledged([change(undefined, OLD)]);
    reconciler.acknowledged([change(OLD, NEW), change(undefined, UDP)]);
    const ended = reconciler.run(aborter.signal);
    await done.promise;
    aborter.abort();
    await ended;
    const { promise, resolve } = Promise.withResolvers<string>();
    client.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''));
    client.on('data', () => resolve('answered'));
    client.write('still there?');
    const late = setTimeout(() => resolve('silence'), 5000);
    return await promise.finally(() => clearTimeout(late));
  }

  it('continues', async () => {
    assert.equal(await nextPacketAnswer(), 'answered');
  });
});
