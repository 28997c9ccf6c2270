import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { SocketAddress } from '../../../../../linux/sockets/socket-address.ts';
import { SO_RCVBUFFORCE, SOL_SOCKET } from '../../../../../linux/sockets/socket-constants.ts';
import { SocketOptions } from '../../../../../linux/sockets/socket-options.ts';
import type { FromThread, MovedPair, ToThread } from '../thread-messages.ts';
import type { TestEndpoint } from './testing/main-thread.ts';
import {
  connected,
  converse,
  eventually,
  readAll,
  startNode,
  type TestNode,
} from './testing/own-node.ts';

/**
 * Mistakes that are easily made again. Each test names the change of the code that it fails with.
 */
let node: TestNode;

before(async () => {
  node = await startNode();
});
after(() => node.close());

/** Keeps the thread busy for a third of a second: looking for connections that it has not got. */
const BUSY: ToThread = {
  tell: 'end',
  id: -1,
  connections: Array.from({ length: 150_000 }, (_, at) => ({
    client: `192.0.2.1 ${at}`,
    frontend: '10.96.0.1 80',
  })),
};

type Question = Extract<FromThread, { tell: 'stick' }>;

/** A connection that waits for the answer of the main thread: its frontend has affinity. */
async function waiting(endpoints: readonly TestEndpoint[]) {
  const frontend = node.newFrontend();
  node.main.onStick = undefined;
  node.main.setList(frontend.port, endpoints);
  node.main.setTarget(frontend, { list: frontend.port, isSticky: true });
  const client = await connected(frontend);
  const isOurs = (said: FromThread) => said.tell === 'stick' && said.row === frontend.port;
  const asked = async () => (await node.main.until(isOurs)) as Question;
  const answer = (slot: number) =>
    asked().then(({ connection }): ToThread => ({ tell: 'stick', connection, slot }));
  return { client, frontend, answer };
}

/** Busy after the dial and before the next epoll_wait: meanwhile the endpoint accepts and speaks. */
const afterBeingBusy = (answer: ToThread): void =>
  node.main.tellTogether([answer, ...Array.from({ length: 4 }, () => BUSY)]);

describe('traps', () => {
  // Fails when `onAnswer` of dialler.ts forgets that the slot counts the pair already.
  it('counts no connection whose client is gone when the answer comes', async () => {
    const endpoint = await node.serve((socket) => socket.end());
    const { client, answer } = await waiting([endpoint]);
    const told = await answer(endpoint.slot);
    client.resetAndDestroy();
    const open = (): number => Atomics.load(new Int32Array(node.main.memory.connections), 0);
    await eventually(() => open() === 0, 'the pair is closed');
    node.main.tell(told);
    await node.main.ask({ tell: 'pulse' });
    assert.equal(node.main.openCount(endpoint.slot), 0);
  });

  it('asks again when the endpoint of an answer leaves right after it', async () => {
    const left = await node.serve((socket) => socket.end('left'));
    const other = await node.serve((socket) => socket.end('other'));
    const { client, answer } = await waiting([left, other]);
    const heard = readAll(client);
    const told = await answer(left.slot);
    node.main.onStick = ({ not }) => (not.includes(left.slot) ? other.slot : null);
    node.main.tellTogether([told, { tell: 'gone', slots: [left.slot] }]);
    assert.equal(await heard, 'other');
    assert.equal(node.main.openCount(left.slot), 0);
    client.destroy();
  });

  // Fails when `#open` of thread.ts ignores the mask of the event: no second event comes.
  it('delivers what the event that tells of the connection carries as well', async () => {
    const endpoint = await node.serve((socket) => socket.end('first words'));
    const { client, answer } = await waiting([endpoint]);
    const heard = readAll(client);
    afterBeingBusy(await answer(endpoint.slot));
    assert.equal(await heard, 'first words');
    client.destroy();
  });

  // Fails when `pump` of copier.ts takes a short read for the last one although the end was
  // announced: `if (got < size) return`.
  it('reads to the end when the end came with the bytes', async () => {
    const endpoint = await node.serve((socket) => {
      void readAll(socket).then((said) => socket.end(`got ${said.length}`));
    });
    const frontend = node.newFrontend();
    node.main.setList(frontend.port, [endpoint]);
    node.main.setTarget(frontend, { list: frontend.port });
    for (const length of [1, 1000, 200_000, 1_000_000]) {
      assert.equal(await converse(frontend, 'x'.repeat(length)), `got ${length}`);
    }
  });

  // Fails when `onEvent` of copier.ts reads on after a rest only if the end was announced to an open
  // pair: `pump(back, back.isEnding)`. It was announced while the pair waited for its endpoint.
  it('passes an end on that came before the endpoint, behind more than one call receives', async () => {
    const { fd } = node.main.listener;
    const options = new SocketOptions();
    const forced = { level: SOL_SOCKET, name: SO_RCVBUFFORCE };
    // As on machines with a larger net.ipv4.tcp_rmem.
    assert.equal(options.setNumber(fd, forced, 2 * 1024 * 1024), 0);
    // Reads later, so that a rest is kept here.
    const endpoint = await node.serve((socket) => {
      socket.pause();
      setTimeout(() => {
        void readAll(socket).then((said) => socket.end(`got ${said.length}`));
        socket.resume();
      }, 100);
    });
    const sendBuffer = '/proc/sys/net/ipv4/tcp_wmem';
    const usual = readFileSync(sendBuffer, 'utf8');
    const { client, answer } = await waiting([endpoint]);
    const heard = readAll(client);
    // It may be sent before the thread asks.
    const sent = once(client, 'finish');
    client.end('x'.repeat(300_000));
    const told = await answer(endpoint.slot);
    await sent;
    writeFileSync(sendBuffer, '4096 4096 4096');
    try {
      node.main.tell(told);
      assert.equal(await heard, 'got 300000');
    } finally {
      writeFileSync(sendBuffer, usual);
      options.setNumber(fd, forced, 64 * 1024);
      client.destroy();
    }
  });

  // Fails when `run` of thread.ts compares deadlines with the time after epoll_wait:
  // `handleLate(this.#clock(), late)`.
  it('does not blame an endpoint for the time that the thread itself was busy', async () => {
    const endpoint = await node.serve((socket) => socket.end('here'));
    const other = await node.serve((socket) => socket.end('there'));
    const { client, answer } = await waiting([endpoint, other]);
    const heard = readAll(client);
    const told = await answer(endpoint.slot);
    const beganMs = performance.now();
    afterBeingBusy(told);
    assert.equal(await heard, 'here');
    assert.ok(performance.now() - beganMs > 350, 'the thread was not busy for long enough');
    assert.equal(node.main.count(endpoint.slot, 'timedOut'), 0);
    assert.equal(node.main.count(other.slot, 'timedOut'), 0);
    client.destroy();
  });

  // Fails when `give` of moving-pairs.ts does not call `unwatch`: the copy of the descriptor keeps
  // the socket in epoll after it is closed here.
  it('removes sockets that it gives away from epoll', async () => {
    const sockets: Socket[] = [];
    const endpoint = await node.serve((socket) => sockets.push(socket));
    const frontend = node.newFrontend();
    node.main.setList(frontend.port, [endpoint]);
    node.main.setTarget(frontend, { list: frontend.port });
    const client = await connected(frontend);
    await eventually(() => sockets.length === 1, 'the endpoint accepts');
    await eventually(() => node.main.count(endpoint.slot, 'connections') === 1, 'it is counted');
    const given = await node.main.ask({ tell: 'give-pairs' });
    assert.equal(given.tell, 'moved');
    const { pairs } = given as { pairs: readonly MovedPair[] };
    const [pair] = pairs.filter(({ slot }) => slot === endpoint.slot);
    assert.ok(pair);
    const watched = watchedDescriptors();
    assert.ok(!watched.has(pair.clientFd) && !watched.has(pair.endpointFd));
    assert.equal(node.main.openCount(endpoint.slot), 0);
    // It was not taken: everything goes on, with the bytes that came meanwhile.
    client.write('meanwhile');
    node.main.tell({ tell: 'given', taken: false });
    const [peer] = sockets;
    assert.ok(peer);
    const said = readAll(peer);
    client.end();
    assert.equal(await said, 'meanwhile');
    client.destroy();
    peer.destroy();
  });

  // Fails when `SOURCE_FAILURES` of dialler.ts is without EADDRNOTAVAIL: then the endpoint is avoided
  // because this machine has no port left towards it.
  it('does not blame an endpoint towards which all ports are in use', async () => {
    const few = await startNode({ ports: { first: 20_000, last: 20_019 } });
    const held: Socket[] = [];
    const full = await few.serve((socket) => held.push(socket));
    const free = await few.serve((socket) => socket.end('free'));
    const [frontend, both] = [few.newFrontend(), few.newFrontend()];
    few.main.setList(frontend.port, [full]);
    few.main.setTarget(frontend, { list: frontend.port });
    const holders = await connectedTimes(frontend, 20);
    await eventually(() => held.length === 20, 'all ports are in use');
    few.main.setList(both.port, [full, free]);
    few.main.setTarget(both, { list: both.port });
    const clients = await connectedTimes(both, 10);
    const answers = await Promise.all(clients.map((client) => readAll(client)));
    assert.deepEqual(new Set(answers), new Set(['free']));
    assert.equal(few.main.count(full.slot, 'refused'), 0);
    for (const socket of [...holders, ...clients, ...held]) socket.destroy();
    await few.close();
  });
});

async function connectedTimes(frontend: SocketAddress, count: number): Promise<Socket[]> {
  const clients: Socket[] = [];
  for (let at = 0; at < count; at++) {
    const client = await connected(frontend);
    client.on('error', () => client.destroy());
    clients.push(client);
  }
  return clients;
}

/** Descriptors in any epoll of this process. */
function watchedDescriptors(): Set<number> {
  const watched = new Set<number>();
  for (const fd of readdirSync('/proc/self/fd')) {
    if (!isEpoll(fd)) continue;
    const info = readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8');
    for (const [, tfd] of info.matchAll(/^tfd:\s+(\d+)/gm)) watched.add(Number(tfd));
  }
  return watched;
}

function isEpoll(fd: string): boolean {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`) === 'anon_inode:[eventpoll]';
  } catch (error) {
    // The descriptor of the listing itself.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
