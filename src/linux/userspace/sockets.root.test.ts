import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectNode, createServer, type Server, type Socket } from 'node:net';
import { constants } from 'node:os';
import { before, describe, it } from 'node:test';
import { enterOwnNetwork, ip, run } from '../netlink/testing/own-namespace.ts';
import { AddressCalls } from '../sockets/address-calls.ts';
import { closeDescriptor, orThrow } from '../sockets/descriptors.ts';
import { fixedMemory } from '../sockets/fixed-memory.ts';
import { listenerPort, openListener } from '../sockets/listener.ts';
import {
  decodeSocketAddress,
  encodeSocketAddress,
  MOST_SOCKET_ADDRESS_BYTES,
} from '../sockets/socket-address.ts';
import {
  AF_INET,
  EPOLLEXCLUSIVE,
  EPOLLIN,
  SOCK_CLOEXEC,
  SOCK_STREAM,
} from '../sockets/socket-constants.ts';
import { connect, errno, recv, send, socket } from '../sockets/socket-libc.ts';
import { SocketOptions } from '../sockets/socket-options.ts';
import { setTransparent } from '../sockets/transparent.ts';
import { Epoll } from './epoll.ts';
import { EventfdCalls, openEventfd } from './eventfd.ts';
import { raiseOpenFiles } from './raise-open-files.ts';
import { KEPT_PORTS, SourceBinder } from './source-ports.ts';

const DEADLINE_MS = 5000;
const { EAGAIN, EADDRNOTAVAIL, ENOENT, ECONNREFUSED } = constants.errno;

before(() => {
  enterOwnNetwork();
  ip('address add 10.9.0.1/32 dev lo', 'address add fd09::1/128 dev lo nodad');
});

async function listenNode(host: string): Promise<{ server: Server; port: number }> {
  const server = createServer();
  server.listen(0, host);
  await once(server, 'listening');
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  return { server, port: address.port };
}

/** The event loop is free meanwhile, so that a client of Node's can connect. */
async function accepted(calls: AddressCalls, listener: number): Promise<number> {
  const deadlineMs = performance.now() + DEADLINE_MS;
  for (;;) {
    const fd = calls.accept(listener);
    if (fd >= 0) return fd;
    assert.equal(-fd, EAGAIN);
    assert.ok(performance.now() < deadlineMs, 'nothing to accept');
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function opened(address: string): { fd: number; memory: ReturnType<typeof fixedMemory> } {
  assert.ok(!address.includes(':'));
  const fd = orThrow(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), 'open a socket');
  return { fd, memory: fixedMemory(MOST_SOCKET_ADDRESS_BYTES) };
}

describe('listeners', () => {
  for (const [family, client, frontend, own] of [
    ['IPv4', '10.9.0.1', '10.96.0.7', '169.254.7.7'],
    ['IPv6', 'fd09::1', 'fd96::7', 'fd09::7:7'],
  ] as const) {
    it(`tells peer and original destination of a translated ${family} connection`, async () => {
      const isIPv6 = family === 'IPv6';
      const listener = openListener(own);
      assert.equal(listenerPort(listener.fd), listener.port);
      const target = isIPv6 ? `[${own}]:${listener.port}` : `${own}:${listener.port}`;
      const prefix = isIPv6 ? 'ip6' : 'ip';
      run(
        ['nft', '-f', '-'],
        `table inet test-${family} { chain out { type nat hook output priority -100;
          ${prefix} daddr ${frontend} tcp dport 80 dnat ${prefix} to ${target}; }; }`,
      );
      // The listener is older than its address.
      ip(`route add local ${own} dev lo table local`, `route add ${frontend} dev lo`);
      const socketOfNode = connectNode({ host: frontend, port: 80, localAddress: client });
      const calls = new AddressCalls();
      const fd = await accepted(calls, listener.fd);
      assert.equal(decodeSocketAddress(calls.peer).address, client);
      assert.equal(calls.originalDestination(fd, isIPv6), 0);
      assert.deepEqual(decodeSocketAddress(calls.address), { address: frontend, port: 80 });
      socketOfNode.destroy();
      closeDescriptor(fd);
      closeDescriptor(listener.fd);
    });
  }

  it('an IPv6 listener does not take IPv4 connections', async () => {
    const listener = openListener('::');
    const client = connectNode({ host: '127.0.0.1', port: listener.port });
    const [error] = (await once(client, 'error')) as [NodeJS.ErrnoException];
    assert.equal(error.errno, -ECONNREFUSED);
    closeDescriptor(listener.fd);
  });

  it('reports no original destination without connection tracking', async () => {
    run(
      ['nft', '-f', '-'],
      `table inet untracked {
         chain out { type filter hook output priority -300; tcp dport 1-65535 notrack; }
         chain in { type filter hook prerouting priority -300; notrack; }
       }`,
    );
    const listener = openListener('127.0.0.1');
    const client = connectNode({ host: '127.0.0.1', port: listener.port });
    const calls = new AddressCalls();
    const fd = await accepted(calls, listener.fd);
    assert.equal(calls.originalDestination(fd, false), -ENOENT);
    client.destroy();
    closeDescriptor(fd);
    closeDescriptor(listener.fd);
    run(['nft', 'delete', 'table', 'inet', 'untracked']);
  });
});

describe('epoll', () => {
  it('reports a raised eventfd with its tag until it is cleared', () => {
    using epoll = new Epoll(8);
    const wake = openEventfd();
    const calls = new EventfdCalls();
    assert.equal(epoll.add(wake, EPOLLIN, 77), 0);
    assert.equal(epoll.wait(0), 0);
    calls.raise(wake);
    calls.raise(wake);
    assert.equal(epoll.wait(DEADLINE_MS), 1);
    assert.deepEqual([epoll.fdAt(0), epoll.tagAt(0), epoll.maskAt(0)], [wake, 77, EPOLLIN]);
    calls.clear(wake);
    calls.clear(wake);
    assert.equal(epoll.wait(0), 0);
    assert.equal(epoll.remove(wake), 0);
    calls.raise(wake);
    assert.equal(epoll.wait(0), 0);
    closeDescriptor(wake);
  });

  it('lets two of them share a listener', async () => {
    using first = new Epoll(8);
    using second = new Epoll(8);
    const listener = openListener('127.0.0.1');
    for (const epoll of [first, second]) {
      assert.equal(epoll.add(listener.fd, EPOLLIN | EPOLLEXCLUSIVE, 0), 0);
    }
    const client = connectNode({ host: '127.0.0.1', port: listener.port });
    await once(client, 'connect');
    assert.ok(first.wait(0) + second.wait(0) >= 1);
    client.destroy();
    closeDescriptor(listener.fd);
  });
});

describe('transparent sockets', () => {
  it('connect with the address of another machine and a port of their own range', async () => {
    const { server, port } = await listenNode('10.9.0.1');
    // Answers to the foreign address come home.
    ip(
      'rule add pref 118 to 192.0.2.0/24 lookup 118',
      'route add local 192.0.2.0/24 dev lo table 118',
    );
    const { fd, memory } = opened('10.9.0.1');
    const options = new SocketOptions();
    assert.equal(setTransparent(options, fd, false), 0);
    const length = encodeSocketAddress(memory.bytes, { address: '192.0.2.33', port: 7 });
    assert.equal(new SourceBinder(options, KEPT_PORTS).bind(fd, memory, length), 0);
    const to = fixedMemory(MOST_SOCKET_ADDRESS_BYTES);
    const toLength = encodeSocketAddress(to.bytes, { address: '10.9.0.1', port });
    const connection = once(server, 'connection');
    assert.equal(connect(fd, to.address, toLength), 0, `errno ${errno()}`);
    const [seen] = (await connection) as [Socket];
    assert.equal(seen.remoteAddress, '192.0.2.33');
    const { remotePort = 0 } = seen;
    assert.ok(remotePort >= KEPT_PORTS.first && remotePort <= KEPT_PORTS.last, `${remotePort}`);
    seen.destroy();
    closeDescriptor(fd);
    server.close();
  });

  it('a socket that is not transparent cannot', () => {
    const { fd, memory } = opened('10.9.0.1');
    const length = encodeSocketAddress(memory.bytes, { address: '198.51.100.3', port: 0 });
    assert.equal(
      new SourceBinder(new SocketOptions(), KEPT_PORTS).bind(fd, memory, length),
      EADDRNOTAVAIL,
    );
    closeDescriptor(fd);
  });
});

describe('transfers', () => {
  it('send and receive bytes at an address, and end with a reset on request', async () => {
    const { server, port } = await listenNode('127.0.0.1');
    const { fd, memory } = opened('127.0.0.1');
    const length = encodeSocketAddress(memory.bytes, { address: '127.0.0.1', port });
    const connection = once(server, 'connection');
    assert.equal(connect(fd, memory.address, length), 0);
    const [peer] = (await connection) as [Socket];
    const bytes = fixedMemory(64);
    bytes.bytes.write('question');
    assert.equal(send(fd, bytes.address, 8, 0), 8);
    const [question] = (await once(peer, 'data')) as [Buffer];
    assert.equal(String(question), 'question');
    peer.write('answer');
    assert.equal(recv(fd, bytes.address, 64, 0), 6);
    assert.equal(bytes.bytes.toString('latin1', 0, 6), 'answer');
    const options = new SocketOptions();
    assert.equal(options.takeError(fd), 0);
    const failed = once(peer, 'error');
    options.resetOnClose(fd);
    closeDescriptor(fd);
    const [error] = (await failed) as [NodeJS.ErrnoException];
    assert.equal(error.code, 'ECONNRESET');
    server.close();
  });
});

describe('the limit of open files', () => {
  it('is raised as far as it may and never lowered', () => {
    const before = raiseOpenFiles(0);
    const raised = raiseOpenFiles(before + 1);
    assert.ok(raised === before + 1 || raised === before);
    assert.equal(raiseOpenFiles(10), raised);
    assert.ok(raiseOpenFiles(Number.MAX_SAFE_INTEGER) >= raised);
  });
});
