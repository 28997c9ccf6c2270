import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { beforeEach, describe, it } from 'node:test';
import { enterOwnNetwork, ip, run } from '../../../../linux/netlink/testing/own-namespace.ts';
import { FACTS, newCaptures, nft } from './testing/capture-kernel.ts';

beforeEach(() => {
  enterOwnNetwork();
  ip('link set lo up', `addr add ${ADDRESS.ip}/32 dev lo`, `addr add ${ADDRESS.ip6}/128 dev lo`);
});

const ADDRESS = { ip: '10.99.0.1', ip6: 'fd99::1' } as const;
const FAMILIES = ['ip', 'ip6'] as const;
const DEADLINE_MS = 5000;

/** Counts what passes where IPVS has its function, by protocol number. */
function watchIpvsPlace(): void {
  for (const family of FAMILIES) {
    const protocol = family === 'ip' ? 'ip protocol' : 'ip6 nexthdr';
    const to = `${family} daddr ${ADDRESS[family]}`;
    nft(`table ${family} place {
      chain output { type filter hook output priority -98;
        ${to} ${protocol} { 6, 17 } counter comment "seen"
        ${to} ${protocol} { 200, 201 } counter comment "hidden"
      }
    }`);
  }
}

function counted(family: 'ip' | 'ip6', what: 'seen' | 'hidden'): number {
  const listing = run(['nft', 'list', 'table', family, 'place']);
  return Number(new RegExp(`counter packets (\\d+) .*"${what}"`).exec(listing)?.[1]);
}

async function connectTo(address: string): Promise<void> {
  const signal = AbortSignal.timeout(DEADLINE_MS);
  await using server = createServer((socket) => socket.end('hello'));
  server.listen(0, address);
  await once(server, 'listening', { signal });
  const bound = server.address();
  assert.ok(bound !== null && typeof bound === 'object');
  await serversAdd(address, bound.port, 'TCP');
  const client = connect(bound.port, address);
  using _ = { [Symbol.dispose]: () => client.destroy() };
  const [said] = await once(client, 'data', { signal });
  assert.equal(String(said), 'hello');
}

async function sendTo(family: 'ip' | 'ip6'): Promise<void> {
  const signal = AbortSignal.timeout(DEADLINE_MS);
  const socket = createSocket(family === 'ip' ? 'udp4' : 'udp6');
  using _ = { [Symbol.dispose]: () => socket.close() };
  socket.bind(0, ADDRESS[family]);
  await once(socket, 'listening', { signal });
  const { port } = socket.address();
  await serversAdd(ADDRESS[family], port, 'UDP');
  const sent = once(socket, 'message', { signal });
  socket.send('hello', port, ADDRESS[family]);
  assert.equal(String((await sent)[0]), 'hello');
}

async function serversAdd(address: string, port: number, protocol: 'TCP' | 'UDP'): Promise<void> {
  const captures = newCaptures();
  await captures.ensure(FACTS);
  await captures.write({ serversAdd: [{ address, protocol, port }] });
}

describe('packets of own sockets that are not captured', () => {
  for (const family of FAMILIES) {
    it(`have another protocol number only while IPVS would see them, over ${family}`, async () => {
      watchIpvsPlace();
      await connectTo(ADDRESS[family]);
      const tcp = counted(family, 'hidden');
      assert.ok(tcp > 0, 'no SYN was hidden');
      await sendTo(family);
      assert.ok(counted(family, 'hidden') > tcp, 'no datagram was hidden');
      assert.ok(counted(family, 'seen') > 0, 'what follows the answer is left as it is');
    });
  }
});

describe('packets of own sockets with the mark', () => {
  it('keep their route, and those that come in get the one to this node', async () => {
    ip(
      'link add name uplink type veth peer name far',
      'addr add 192.0.2.1/24 dev uplink',
      'link set far up',
      'link set uplink up',
      'route add default via 192.0.2.254',
    );
    await newCaptures().ensure(FACTS);
    const own = run(['ip', 'route', 'get', '10.96.0.1', 'mark', '0x1000']);
    assert.match(own, /via 192\.0\.2\.254 dev uplink/);
    const from = ['from', '192.0.2.7', 'iif', 'uplink', 'mark', '0x1000'];
    assert.match(run(['ip', 'route', 'get', '10.96.0.1', ...from]), /local 10\.96\.0\.1/);
  });
});
