import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { before, describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DropWatch, End } from '../../drops/drop.ts';
import { enterOwnNetwork, run } from '../../netlink/testing/own-namespace.ts';
import { startProgram } from '../../testing/started-program.ts';
import { listIds } from '../enumerate.ts';
import { dropObject } from './testing/drop-object.ts';
import { DEAF, type NodeBetween, nodeBetween, SERVED, VIRTUAL } from './testing/node-between.ts';
import { readUntil } from './testing/read-until.ts';
import { watchDrops } from './watch-drops.ts';

const TCP = 6;
const UDP = 17;
const SOURCE_PORT = 40_001;
const HOLD = new URL('./testing/hold.ts', import.meta.url).pathname;

enterOwnNetwork();
const object = dropObject();
let site: NodeBetween;
before(async () => {
  site = await nodeBetween();
});

function watch(
  t: TestContext,
  ends: readonly End[],
  networkNamespaces: readonly number[] = site.namespaces.all,
): DropWatch {
  const stop = new AbortController();
  t.after(() => stop.abort());
  return watchDrops({ object, ends, networkNamespaces }, stop.signal);
}

interface Asked {
  readonly sourcePort?: number;
  readonly ipv6?: boolean;
  readonly timeoutMs?: number;
}

function askVirtual(port: number, more: Asked = {}) {
  const { ipv6 = false, sourcePort = 0, timeoutMs = 300 } = more;
  const address = ipv6 ? VIRTUAL.ipv6 : VIRTUAL.ipv4;
  return site.client.ask({ transport: 'TCP', address, port, sourcePort, timeoutMs });
}

describe('drops', () => {
  it('have reason, function, interface and the connection before its translation', async (t) => {
    const drops = watch(t, [{ address: VIRTUAL.ipv4, port: SERVED, protocol: TCP }]);
    run(['nft', 'add table ip stranger']);
    t.after(() => run(['nft', 'delete table ip stranger']));
    run(['nft', 'add chain ip stranger fw { type filter hook forward priority 10; }']);
    run(['nft', 'add rule ip stranger fw drop']);
    await askVirtual(SERVED, { sourcePort: SOURCE_PORT });
    const [first] = await readUntil(drops, 1);
    const { client, endpoint, namespaces } = site;
    assert.deepEqual(first, {
      reason: 'NETFILTER_DROP',
      function: 'nft_do_chain',
      networkNamespace: namespaces.node,
      device: client.device,
      packet: {
        protocol: TCP,
        source: client.ipv4,
        sourcePort: SOURCE_PORT,
        destination: endpoint.ipv4,
        destinationPort: 8080,
      },
      original: {
        protocol: TCP,
        source: client.ipv4,
        sourcePort: SOURCE_PORT,
        destination: VIRTUAL.ipv4,
        destinationPort: SERVED,
      },
    });
  });

  for (const [name, ipv6] of [
    ['IPv4', false],
    ['IPv6', true],
  ] as const) {
    it(`are found in the endpoint's own network namespace by the client's port: ${name}`, async (t) => {
      const source = ipv6 ? site.client.ipv6 : site.client.ipv4;
      const drops = watch(t, [{ address: source, port: SOURCE_PORT, protocol: TCP }]);
      const [answer] = await askVirtual(DEAF, { sourcePort: SOURCE_PORT, ipv6, timeoutMs: 10_000 });
      assert.equal(answer?.by, 'ECONNREFUSED');
      const [first] = await readUntil(drops, 1);
      assert.equal(first?.reason, 'NO_SOCKET');
      assert.equal(first.networkNamespace, site.namespaces.endpoint);
      assert.equal(first.packet.destinationPort, 9999);
    });
  }

  it('match a port at any address', async (t) => {
    const drops = watch(t, [{ port: SOURCE_PORT, protocol: TCP }]);
    await askVirtual(DEAF, { sourcePort: SOURCE_PORT });
    const [first] = await readUntil(drops, 1);
    assert.equal(first?.reason, 'NO_SOCKET');
  });

  it('of other connections are not reported', async (t) => {
    const drops = watch(t, [{ address: site.client.ipv4, port: SOURCE_PORT, protocol: TCP }]);
    // Another port, another address, another protocol; then the one that is watched.
    await askVirtual(DEAF, { sourcePort: SOURCE_PORT + 1 });
    await askVirtual(DEAF, { sourcePort: SOURCE_PORT, ipv6: true });
    const address = site.endpoint.ipv4;
    const udp = { transport: 'UDP', address, port: 9999, sourcePort: SOURCE_PORT } as const;
    await site.client.ask({ ...udp, connected: true, timeoutMs: 300 });
    await askVirtual(DEAF, { sourcePort: SOURCE_PORT });
    const [first, ...others] = await readUntil(drops, 1);
    assert.equal(first?.packet.sourcePort, SOURCE_PORT);
    assert.equal(first.packet.protocol, TCP);
    assert.equal(first.packet.source, site.client.ipv4);
    assert.deepEqual(others, []);
  });

  it('of other network namespaces are not reported where some are given', async (t) => {
    const ends = [{ address: site.client.ipv4, port: SOURCE_PORT, protocol: TCP }];
    const elsewhere = watch(t, ends, [site.namespaces.node]);
    const everywhere = watch(t, ends);
    await askVirtual(DEAF, { sourcePort: SOURCE_PORT });
    assert.equal((await readUntil(everywhere, 1)).length, 1);
    assert.deepEqual(elsewhere.read(), []);
  });

  it('are none in a healthy connection', async (t) => {
    const drops = watch(t, [{ address: site.client.ipv4, port: SOURCE_PORT, protocol: TCP }]);
    const [answer] = await askVirtual(SERVED, { sourcePort: SOURCE_PORT });
    assert.equal(answer?.by, 'endpoint');
    assert.deepEqual(drops.read(), []);
    // The watch itself works: the next one is dropped.
    await askVirtual(DEAF, { sourcePort: SOURCE_PORT });
    assert.equal((await readUntil(drops, 1)).length, 1);
  });

  it('are counted as lost when nobody reads them', async (t) => {
    const drops = watch(t, [{ address: '127.0.0.1', port: 9, protocol: UDP }]);
    const socket = createSocket('udp4');
    t.after(() => socket.close());
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    for (let sent = 0; sent < 300; sent++) {
      await new Promise((done) => socket.send('x', 9, '127.0.0.1', done));
    }
    const read = drops.read();
    assert.equal(read.length, 256);
    assert.equal(drops.lost(), 300 - 256);
  });
});

it('leaves nothing in the kernel when its process is killed', async () => {
  const { said, kill } = await startProgram(HOLD, ['9']);
  const held = programsOf(Number(said));
  assert.equal(held.length, 1);
  assert.ok(listIds('program').includes(held[0] ?? 0));
  kill();
  const deadlineMs = performance.now() + 10_000;
  const isLeft = (): boolean => listIds('program').includes(held[0] ?? 0);
  while (isLeft() && performance.now() < deadlineMs) await sleep(10);
  assert.equal(isLeft(), false);
});

/** Ids of the programs that a process holds by descriptors, each once. */
function programsOf(pid: number): number[] {
  const folder = `/proc/${pid}/fdinfo`;
  const ids = readdirSync(folder).flatMap((fd) => {
    const found = /^prog_id:\s*(\d+)/m.exec(readFileSync(`${folder}/${fd}`, 'utf8'));
    return found?.[1] === undefined ? [] : [Number(found[1])];
  });
  return [...new Set(ids)];
}
