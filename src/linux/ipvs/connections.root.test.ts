import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { describe, it } from 'node:test';
import { until } from '../../time/testing/until.ts';
import { enterOwnNetwork, ip } from '../netlink/testing/own-namespace.ts';
import { virtualServerId } from './ipvs-model.ts';
import { KernelIpvs } from './kernel-ipvs.ts';
import { WITHOUT_IPVS } from './testing/load-ipvs.ts';

enterOwnNetwork();

const SERVER = {
  protocol: 'TCP',
  address: '10.96.0.1',
  port: 80,
  scheduler: 'rr',
  schedulerFlags: [],
  persistenceSeconds: 60,
} as const;

const CLIENTS = 1000;

describe('connections through IPVS', { skip: WITHOUT_IPVS }, () => {
  it('are counted at their destination, and change no fingerprint', async () => {
    ip('addr add 10.96.0.1/32 dev lo', 'addr add 10.244.0.1/32 dev lo');
    const listener = createServer((socket) => socket.end('answer'));
    listener.listen(0, '10.244.0.1');
    listener.unref();
    await once(listener, 'listening');
    const bound = listener.address();
    const port = bound !== null && typeof bound === 'object' ? bound.port : 0;
    const destination = { address: '10.244.0.1', port, weight: 1 };
    const ipvs = new KernelIpvs();
    const rejections = await ipvs.write([
      { do: 'add-server', server: SERVER },
      { do: 'add-destination', server: SERVER, destination },
    ]);
    assert.deepEqual(rejections, []);
    const before = await ipvs.fingerprint();
    const client = connect(SERVER.port, SERVER.address);
    await once(client.resume(), 'close');
    const now = async () => (await ipvs.destinationsOf([SERVER])).get(virtualServerId(SERVER))?.[0];
    // Before Linux 6.2 a timer adds the totals up every 2 s.
    await until('totals of the connection', async () => ((await now())?.packetsOut ?? 0) > 2);
    const state = await now();
    assert.ok(state);
    assert.deepEqual([state.connections, state.persistentConnections], [1, 1]);
    assert.equal(state.activeConnections + state.inactiveConnections, 1);
    assert.ok(state.packetsIn > 2 && state.bytesIn > 100 && state.bytesOut > 100);
    const listed = (await ipvs.read()).get(virtualServerId(SERVER))?.destinations[0];
    assert.deepEqual(listed, {
      ...destination,
      activeConnections: state.activeConnections,
      inactiveConnections: state.inactiveConnections,
    });
    assert.deepEqual(await ipvs.fingerprint(), before);
  });

  it('have an affinity entry for each client address, however many there are', async () => {
    ip('addr add 10.96.0.2/32 dev lo', 'route add local 10.50.0.0/16 dev lo');
    const server = { ...SERVER, protocol: 'UDP', address: '10.96.0.2' } as const;
    const destination = { address: '10.244.0.1', port: 8080, weight: 1 };
    const ipvs = new KernelIpvs();
    await ipvs.write([
      { do: 'add-server', server },
      { do: 'add-destination', server, destination },
    ]);
    for (let client = 0; client < CLIENTS; client++) {
      const socket = createSocket('udp4');
      // Nothing listens: an ICMP error may come.
      socket.on('error', () => undefined);
      socket.bind({ address: `10.50.${client >> 8}.${client & 0xff}`, exclusive: true });
      await once(socket, 'listening');
      await new Promise((resolve) => {
        socket.send('x', server.port, server.address, resolve);
      });
      socket.close();
    }
    const found = (await ipvs.destinationsOf([server])).get(virtualServerId(server));
    assert.deepEqual(
      found?.map((each) => each.persistentConnections),
      [CLIENTS],
    );
  });
});
