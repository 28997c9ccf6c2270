import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { closeDescriptor, orThrow } from '../../../../../linux/sockets/descriptors.ts';
import { fixedMemory } from '../../../../../linux/sockets/fixed-memory.ts';
import {
  encodeSocketAddress,
  MOST_SOCKET_ADDRESS_BYTES,
} from '../../../../../linux/sockets/socket-address.ts';
import {
  AF_INET,
  SHUT_WR,
  SOCK_CLOEXEC,
  SOCK_STREAM,
} from '../../../../../linux/sockets/socket-constants.ts';
import { connect, recv, send, shutdown, socket } from '../../../../../linux/sockets/socket-libc.ts';
import { untilReady } from '../../../../../linux/sockets/until-ready.ts';
import type { MovedPair, ThreadConnection } from '../thread-messages.ts';
import {
  connected,
  converse,
  ENDPOINT,
  eventually,
  FRESH_CLIENT,
  readAll,
  startNode,
  type TestNode,
} from './testing/own-node.ts';
import { askStreams, serveStreams } from './testing/streams.ts';

const MSG_OOB = 1;
let node: TestNode;

before(async () => {
  node = await startNode();
});
after(() => node.close());

describe('a copying thread', () => {
  it('forwards a connection, its answer and its end, and counts them', async () => {
    const endpoint = await node.serve((peer) => {
      void readAll(peer).then((said) => peer.end(`got ${said}`));
    });
    const frontend = node.newFrontend();
    node.main.setList(frontend.port, [endpoint]);
    node.main.setTarget(frontend, { list: frontend.port });
    assert.equal(await converse(frontend, 'hello'), 'got hello');
    assert.equal(node.main.count(endpoint.slot, 'connections'), 1);
    assert.equal(node.main.count(endpoint.slot, 'bytesToEndpoint'), 5);
    assert.equal(node.main.count(endpoint.slot, 'bytesToClient'), 9);
    assert.ok(node.main.count(endpoint.slot, 'connectMicroseconds') > 0);
    await eventually(() => node.main.openCount(endpoint.slot) === 0, 'the pair is closed');
  });

  it('carries every byte of streams in six endings', async () => {
    const streams = await serveStreams(ENDPOINT);
    const slot = node.newSlot();
    const frontend = node.newFrontend();
    node.main.setList(frontend.port, [{ slot, address: ENDPOINT, port: streams.port }]);
    node.main.setTarget(frontend, { list: frontend.port });
    const to = { host: frontend.address, port: frontend.port };
    const faults = await askStreams({ ...to, count: 600, atOnce: 24, mostBytes: 1_500_000 });
    assert.deepEqual([faults, streams.faults], [[], []]);
    await eventually(() => node.main.openCount(slot) === 0, 'all pairs are closed');
    assert.equal(node.main.count(slot, 'connections'), 600);
    streams.server.close();
  });

  it('keeps an urgent byte in its place in the stream', async () => {
    const endpoint = await node.serve((peer) => {
      void readAll(peer).then((said) => peer.end(`got ${said}`));
    });
    const frontend = node.newFrontend();
    node.main.setList(frontend.port, [endpoint]);
    node.main.setTarget(frontend, { list: frontend.port });
    const fd = orThrow(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), 'open a socket');
    const memory = fixedMemory(MOST_SOCKET_ADDRESS_BYTES);
    const length = encodeSocketAddress(memory.bytes, frontend);
    orThrow(connect(fd, memory.address, length), 'connect');
    const bytes = fixedMemory(100);
    bytes.bytes.write('abcdef');
    assert.equal(send(fd, bytes.address, 3, 0), 3);
    assert.equal(send(fd, bytes.address + 3, 1, MSG_OOB), 1);
    assert.equal(send(fd, bytes.address + 4, 2, 0), 2);
    orThrow(shutdown(fd, SHUT_WR), 'end');
    await untilReady(fd, 'readable', { timeoutMs: 10_000 });
    const said = bytes.bytes.toString('latin1', 0, recv(fd, bytes.address, 100, 0));
    closeDescriptor(fd);
    assert.equal(said, 'got abcdef');
  });

  it('resets a connection to the port of the listener itself', async () => {
    const accepted = node.main.threadCount('accepted');
    const listener = { address: '169.254.118.118', port: node.main.listener.port };
    assert.equal(await converse(listener, ''), 'ECONNRESET');
    assert.equal(node.main.threadCount('accepted'), accepted + 1);
    const { open } = (await node.main.ask({ tell: 'pulse' })) as { open: number };
    assert.equal(open, 0);
  });

  it('serves a connection whose frontend comes a moment later, and resets one whose never comes', async () => {
    const endpoint = await node.serve((peer) => peer.end('served'));
    const [late, never] = [node.newFrontend(), node.newFrontend()];
    const clients = await Promise.all([connected(late), connected(never)]);
    const answers = clients.map(readAll);
    await node.main.ask({ tell: 'pulse' });
    node.main.setList(late.port, [endpoint]);
    node.main.setTarget(late, { list: late.port });
    assert.deepEqual(await Promise.all(answers), ['served', 'ECONNRESET']);
    assert.equal(node.main.threadCount('unknownFrontend'), 1);
    for (const client of clients) client.destroy();
  });

  it('lists connections with all addresses, and ends those that are named', async () => {
    const peers: Socket[] = [];
    const endpoint = await node.serve((peer) => peers.push(peer));
    const frontend = node.newFrontend();
    node.main.setList(frontend.port, [endpoint]);
    node.main.setTarget(frontend, { list: frontend.port });
    const opened = [connected(frontend, FRESH_CLIENT), connected(frontend, FRESH_CLIENT)];
    const clients = await Promise.all(opened);
    await eventually(() => peers.length === 2, 'both are open');
    await eventually(() => node.main.count(endpoint.slot, 'connections') === 2, 'both are counted');
    clients[0]?.write('12345');
    await eventually(() => node.main.count(endpoint.slot, 'bytesToEndpoint') === 5, 'it is sent');
    const answer = await node.main.ask({ tell: 'connections', most: 10 });
    const { first, count } = answer as { first: readonly ThreadConnection[]; count: number };
    assert.equal(count, 2);
    const names = clients.map((client) => `${client.localAddress} ${client.localPort}`);
    assert.deepEqual(first.map(({ client }) => client).toSorted(), names.toSorted());
    const shown = first.find(({ client }) => client === names[0]);
    const sources = peers.map((peer) => `${peer.remoteAddress} ${peer.remotePort}`);
    assert.ok(shown && sources.includes(shown.source));
    const { frontend: to, state, slot, bytesToEndpoint, bytesToClient } = shown;
    assert.deepEqual(
      [to, state, slot, bytesToEndpoint, bytesToClient],
      [`${frontend.address} ${frontend.port}`, 'open', endpoint.slot, 5, 0],
    );
    const [, kept] = clients;
    const cut = readAll(clients[0] as Socket);
    const connections = [{ client: names[0] ?? '', frontend: to }];
    const ended = await node.main.ask({ tell: 'end', connections });
    assert.deepEqual(ended, { tell: 'ended', id: (ended as { id: number }).id, count: 1 });
    assert.equal(await cut, 'ECONNRESET');
    const { open } = (await node.main.ask({ tell: 'pulse' })) as { open: number };
    assert.equal(open, 1);
    kept?.resetAndDestroy();
    await eventually(() => node.main.openCount(endpoint.slot) === 0, 'the other one ended');
  });

  it('goes on with pairs of another process, also with half-closed ones', async () => {
    const peers: Socket[] = [];
    const endpoint = await node.serve((peer) => peers.push(peer));
    const frontend = node.newFrontend();
    node.main.setList(frontend.port, [endpoint]);
    node.main.setTarget(frontend, { list: frontend.port });
    const client = await connected(frontend);
    client.end('question');
    await eventually(() => node.main.count(endpoint.slot, 'bytesToEndpoint') === 8, 'it is sent');
    await eventually(() => peers.length === 1, 'the endpoint has it');
    const [peer] = peers;
    assert.ok(peer);
    assert.equal(await readAll(peer), 'question');
    const given = (await node.main.ask({ tell: 'give-pairs' })) as { pairs: readonly MovedPair[] };
    assert.equal(given.pairs.length, 1);
    // The same descriptors, as if they had come over a socket.
    node.main.tell({ tell: 'take-pairs', pairs: given.pairs });
    const answer = readAll(client);
    peer.end('answer');
    assert.equal(await answer, 'answer');
    await eventually(() => node.main.openCount(endpoint.slot) === 0, 'the pair is closed');
    assert.equal(node.main.count(endpoint.slot, 'connections'), 1, 'it is not counted again');
    assert.equal(node.main.count(endpoint.slot, 'bytesToClient'), 6);
  });

  it('stops accepting and accepts again', async () => {
    const endpoint = await node.serve((peer) => peer.end('served'));
    const frontend = node.newFrontend();
    node.main.setList(frontend.port, [endpoint]);
    node.main.setTarget(frontend, { list: frontend.port });
    await node.main.ask({ tell: 'accept', isWanted: false });
    const client = await connected(frontend);
    const answer = readAll(client);
    const { open } = (await node.main.ask({ tell: 'pulse' })) as { open: number };
    assert.equal(open, 0, 'it stays in the queue');
    await node.main.ask({ tell: 'accept', isWanted: true });
    assert.equal(await answer, 'served');
    client.destroy();
  });
});

/** Apart from the others, which a busy machine must not reset. */
describe('half-closed connections', () => {
  before(async () => {
    await node.close();
    node = await startNode({ halfClosedMs: 500 });
  });

  it('resets a half-closed connection in which nothing moves', async () => {
    const peers: Socket[] = [];
    const endpoint = await node.serve((peer) => peers.push(peer));
    const frontend = node.newFrontend();
    node.main.setList(frontend.port, [endpoint]);
    node.main.setTarget(frontend, { list: frontend.port });
    const client = await connected(frontend);
    const answer = readAll(client);
    client.end();
    assert.equal(await answer, 'ECONNRESET');
    await eventually(() => node.main.openCount(endpoint.slot) === 0, 'the pair is closed');
    for (const socket of [client, ...peers]) socket.destroy();
  });

  it('keeps a half-closed connection as long as bytes move', async () => {
    const endpoint = await node.serve((peer) => {
      peer.resume();
      let left = 20;
      const speak = setInterval(() => {
        left -= 1;
        if (left > 0) peer.write('x');
        else peer.end(() => clearInterval(speak));
      }, 100);
    });
    const frontend = node.newFrontend();
    node.main.setList(frontend.port, [endpoint]);
    node.main.setTarget(frontend, { list: frontend.port });
    // Four times as long as one in which nothing moves may stay.
    assert.equal(await converse(frontend, 'hello'), 'x'.repeat(19));
  });
});
