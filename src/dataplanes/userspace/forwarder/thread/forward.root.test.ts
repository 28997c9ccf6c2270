import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { enterOwnNetwork, ip, run } from '../../../../linux/netlink/testing/own-namespace.ts';
import { TestMainThread } from './testing/main-thread.ts';
import { askStreams, serveStreams } from './testing/streams.ts';

const FRONTEND = { address: '10.96.0.1', port: 80, source: 'pod' } as const;
const OWN = '169.254.118.118';
const servers: Server[] = [];
let main: TestMainThread;

before(async () => {
  enterOwnNetwork();
  ip('address add 10.9.0.1/32 dev lo', `route add local ${OWN} dev lo table local`);
  ip('route add 10.96.0.0/16 dev lo');
  main = new TestMainThread({ address: OWN });
  await main.ready();
  run(
    ['nft', '-f', '-'],
    `table ip test { chain out { type nat hook output priority -100;
       ip daddr 10.96.0.0/16 tcp dport 80 dnat to ${OWN}:${main.listener.port}; }; }`,
  );
});

after(async () => {
  await main.stop();
  for (const server of servers) server.close();
});

async function serve(onSocket: (socket: Socket) => void): Promise<number> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    // The thread resets what is open when it stops.
    socket.on('error', () => socket.destroy());
    onSocket(socket);
  });
  servers.push(server);
  server.listen(0, '10.9.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  return address.port;
}

describe('a copying thread', () => {
  it('forwards a connection, its answer and its end', async () => {
    const port = await serve((socket) => {
      socket.on('data', (data) => socket.end(`got ${data}`));
    });
    main.setList(1, [{ slot: 1, address: '10.9.0.1', port }]);
    main.setTarget(FRONTEND, { list: 1 });
    const client = connect({ host: '10.96.0.1', port: 80 });
    client.write('hello');
    let text = '';
    client.on('data', (data) => {
      text += data;
    });
    await once(client, 'end');
    assert.equal(text, 'got hello');
    assert.equal(main.count(1, 'connections'), 1);
    assert.equal(main.count(1, 'bytesToEndpoint'), 5);
    assert.equal(main.count(1, 'bytesToClient'), 9);
  });

  it('carries every byte of streams in six endings', async () => {
    const streams = await serveStreams('10.9.0.1');
    servers.push(streams.server);
    main.setList(2, [{ slot: 2, address: '10.9.0.1', port: streams.port }]);
    main.setTarget(FRONTEND, { list: 2 });
    const to = { host: '10.96.0.1', port: 80 };
    const faults = await askStreams({ ...to, count: 600, atOnce: 24, mostBytes: 1_500_000 });
    assert.deepEqual([faults, streams.faults], [[], []]);
    assert.equal(main.openCount(2), 0);
    assert.deepEqual(streams.counts['client-first'], 100);
  });
});
