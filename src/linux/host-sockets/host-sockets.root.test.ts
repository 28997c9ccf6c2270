import assert from 'node:assert/strict';
import dgram from 'node:dgram';
import { once } from 'node:events';
import net from 'node:net';
import { beforeEach, describe, it, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { enterOwnNetwork } from '../netlink/testing/own-namespace.ts';
import type { BoundSocket } from './bound-socket.ts';
import { socketOwners } from './socket-owner.ts';
import { listHostSockets, watchHostSockets } from './watch-host-sockets.ts';

const DEADLINE_MS = 10_000;

beforeEach(enterOwnNetwork);

async function listening(t: TestContext, options: net.ListenOptions): Promise<number> {
  const server = net.createServer();
  await once(server.listen(options), 'listening');
  t.after(() => server.close());
  return (server.address() as net.AddressInfo).port;
}

async function bound(t: TestContext, address: string): Promise<dgram.Socket> {
  const socket = dgram.createSocket(address.includes(':') ? 'udp6' : 'udp4');
  socket.bind(0, address);
  await once(socket, 'listening');
  t.after(() => socket.close());
  return socket;
}

const textOf = ({ family, protocol, address, port }: BoundSocket) =>
  `${family} ${protocol} ${address || '*'}:${port}`;

describe('the sockets of the host', () => {
  it('are listed with family, protocol, address and port', async (t) => {
    const one = await listening(t, { host: '127.0.0.1', port: 0 });
    const all = await listening(t, { host: '0.0.0.0', port: 0 });
    const both = await listening(t, { host: '::', port: 0 });
    const six = await listening(t, { host: '::', port: 0, ipv6Only: true });
    const mapped = await listening(t, { host: '::ffff:127.0.0.1', port: 0 });
    const udp = (await bound(t, '127.0.0.1')).address().port;
    const udp6 = (await bound(t, '::1')).address().port;
    const found = (await listHostSockets()).map(textOf);
    const expected = [
      `IPv4 TCP 127.0.0.1:${one}`,
      `IPv4 TCP *:${all}`,
      `IPv4 TCP *:${both}`,
      `IPv6 TCP *:${both}`,
      `IPv6 TCP *:${six}`,
      `IPv4 TCP 127.0.0.1:${mapped}`,
      `IPv4 UDP 127.0.0.1:${udp}`,
      `IPv6 UDP ::1:${udp6}`,
    ];
    assert.deepEqual(found.toSorted(), expected.toSorted());
  });

  it('are listening sockets, and not those of connections', async (t) => {
    const port = await listening(t, { host: '127.0.0.1', port: 0 });
    const client = net.connect(port, '127.0.0.1');
    await once(client, 'connect');
    t.after(() => client.destroy());
    const socket = await bound(t, '127.0.0.1');
    socket.connect(9, '127.0.0.1');
    await once(socket, 'connect');
    assert.deepEqual((await listHostSockets()).map(textOf), [`IPv4 TCP 127.0.0.1:${port}`]);
  });

  it('lead to the process that holds them', async (t) => {
    await listening(t, { host: '127.0.0.1', port: 0 });
    const [socket] = await listHostSockets();
    const inode = socket?.inode ?? 0;
    const owners = await socketOwners(new Set([inode]));
    assert.equal(owners.get(inode)?.pid, process.pid);
  });
});

type List = readonly BoundSocket[] | Error | (() => Promise<readonly BoundSocket[]>);

describe('watching them', () => {
  /** Runs polls by hand: each resolves when the watch asks for the next. */
  async function polls(lists: readonly List[]): Promise<string[][]> {
    const told: string[][] = [];
    const stop = new AbortController();
    const late = AbortSignal.timeout(DEADLINE_MS);
    let turn = 0;
    await watchHostSockets(
      (sockets) => told.push(sockets.map(textOf)),
      AbortSignal.any([stop.signal, late]),
      {
        pollEveryMs: 0,
        onProblem: () => undefined,
        list: async () => {
          const next = lists[turn++];
          if (next === undefined) stop.abort();
          if (next instanceof Error) throw next;
          return typeof next === 'function' ? await next() : (next ?? []);
        },
      },
    );
    assert.ok(!late.aborted);
    return told;
  }

  const tcp: BoundSocket = { family: 'IPv4', protocol: 'TCP', address: '', port: 22, inode: 1 };
  const udp: BoundSocket = { ...tcp, protocol: 'UDP', port: 53, inode: 2 };

  it('reports the initial list at once, then only changes', async () => {
    assert.deepEqual(await polls([[udp], [udp], [udp, tcp], [udp, tcp], [tcp]]), [
      ['IPv4 UDP *:53'],
      ['IPv4 UDP *:53', 'IPv4 TCP *:22'],
      ['IPv4 TCP *:22'],
    ]);
  });

  it('leaves out a UDP socket that lives for one query', async () => {
    const asked = { ...udp, port: 40_000, inode: 3 };
    assert.deepEqual(await polls([[], [asked], [], [asked], [asked]]), [[], ['IPv4 UDP *:40000']]);
  });

  const LIST_MS = 200;
  const slowly = async (): Promise<readonly BoundSocket[]> => {
    await delay(LIST_MS);
    return [tcp];
  };

  it('lists again soon when one list took long, as on a busy machine', async () => {
    assert.deepEqual(await polls([[], slowly, [tcp], slowly, [tcp]]), [[], ['IPv4 TCP *:22']]);
  });

  it('rests a hundred times as long as every list takes', async () => {
    const [stop, startedAtMs] = [new AbortController(), performance.now()];
    let count = 0;
    const list = async (): Promise<readonly BoundSocket[]> => {
      await delay(LIST_MS / 10);
      if (++count === 4) stop.abort();
      return [];
    };
    await watchHostSockets(() => undefined, stop.signal, {
      pollEveryMs: 0,
      onProblem: () => undefined,
      list,
    });
    assert.ok(performance.now() - startedAtMs > (LIST_MS / 10) * 100);
  });

  it('keeps its last report while listing fails, and reports none if it never succeeded', async () => {
    assert.deepEqual(await polls([[tcp], new Error('EPERM'), [tcp]]), [['IPv4 TCP *:22']]);
    assert.deepEqual(await polls([new Error('EPERM'), new Error('EPERM')]), [[]]);
  });
});
