import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import type { Drift, NodeFacts } from '../../../../dataplanes/contract.ts';
import type { BpfMap } from '../../../../linux/ebpf/map.ts';
import { openPinnedMap } from '../../../../linux/ebpf/map-create.ts';
import { ip } from '../../../../linux/netlink/testing/own-namespace.ts';
import type { MachineLink } from '../../../../linux/route/link-codec.ts';
import { listLinks, watchLinks } from '../../../../linux/route/watch-links.ts';
import type { HooksPlane } from '../hooks-plane.ts';
import { bring } from '../testing/bring.ts';
import { indexOf, programCount, untilSo } from '../testing/ingress-links.ts';
import { NODE_FACTS, type NodeNetwork, nodeNetwork } from '../testing/node-network.ts';
import { packetPlane, pinFolderOf } from '../testing/packet-plane.ts';

let network: NodeNetwork;
let plane: HooksPlane;
const DRIFTS: Drift[] = [];
const watching = new AbortController();
let watch: Promise<void>;
/** In place of the true list, once. */
let nextList: (() => Promise<readonly MachineLink[]>) | undefined;
let newsCount = 0;
const FACTS: NodeFacts = {
  ...NODE_FACTS,
  podDetection: {
    IPv4: { by: 'interface-prefix', prefix: 'pod-' },
    IPv6: { by: 'interface', name: 'cbr0' },
  },
};
/** Maps are scanned every two seconds, or less often where they are large. */
const TOLD_WITHIN_MS = 8000;

before(async () => {
  network = await nodeNetwork('node-entries');
  plane = packetPlane(network, {
    listLinks: () => {
      const list = nextList ?? listLinks;
      nextList = undefined;
      return list();
    },
    watchLinks: (onChange, signal) =>
      watchLinks(
        (links) => {
          onChange(links);
          newsCount += 1;
        },
        signal,
        { settleMs: 0 },
      ),
  });
  await bring(plane, [], { facts: FACTS });
  watch = plane.watch((drift) => DRIFTS.push(drift), watching.signal);
  await untilSo('the watch has begun', () => newsCount > 0);
});

afterEach(() => {
  DRIFTS.length = 0;
});

after(async () => {
  watching.abort();
  await watch;
  await plane.remove();
  network.leave();
});

function withMap<T>(name: string, use: (map: BpfMap) => T): T {
  const map = openPinnedMap(join(pinFolderOf(network.pins), 'maps', name));
  try {
    return use(map);
  } finally {
    map.close();
  }
}

function key(number: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(number);
  return bytes;
}

function flagsOf(ifindex: number): number {
  return withMap('interfaces', (map) => map.lookup(key(ifindex))?.readUInt32LE(0) ?? 0);
}

test('detects pods by the names of interfaces, and by the bridge that they are ports of', async () => {
  assert.equal(flagsOf(await indexOf('pod-1')), 1);
  assert.equal(flagsOf(await indexOf('eth0')), 0);
  ip('link add name cbr0 type bridge', 'link add name port type veth peer name port-end');
  ip('link set port master cbr0');
  const port = await indexOf('port');
  await untilSo('the port is flagged', () => flagsOf(port) === 2);
  assert.equal(flagsOf(await indexOf('cbr0')), 2);
  ip('link set port nomaster');
  await untilSo('it is no port any more', () => flagsOf(port) === 0);
  ip('link set port master cbr0');
  await untilSo('it is one again', () => flagsOf(port) === 2);
  ip('link del port', 'link del cbr0');
  await untilSo('nothing is left', () => flagsOf(port) === 0);
  assert.deepEqual(await plane.diff({ facts: FACTS, rows: [] }), []);
});

for (const { name, spoil, told } of [
  {
    name: 'interfaces',
    spoil: (map: BpfMap, index: number) => map.delete(key(index)),
    told: /ebpf interfaces \{ \d+ \} changed/,
  },
  {
    name: 'settings',
    spoil: (map: BpfMap) => map.update(key(0), Buffer.alloc(80)),
    told: /ebpf settings changed/,
  },
  {
    name: 'node_addresses',
    spoil: (map: BpfMap) => map.update(Buffer.alloc(16, 1), key(1)),
    told: /ebpf node_addresses \{ .* \} changed/,
  },
]) {
  test(`reports and repairs what another process changes in the map ${name}`, async () => {
    const index = await indexOf('pod-1');
    withMap(name, (map) => spoil(map, index));
    await untilSo('it is told', () => DRIFTS.length > 0, TOLD_WITHIN_MS);
    assert.match(DRIFTS[0]?.what ?? '', told);
    await plane.inspect({ facts: FACTS, rows: [] }, 'reported');
    assert.deepEqual(await plane.diff({ facts: FACTS, rows: [] }), []);
  });
}

test('a list of interfaces older than the events does not undo them', async () => {
  nextList = async () => {
    const old = await listLinks();
    const known = newsCount;
    ip('link add name pod-9 type veth peer name pod-9-end');
    await untilSo('the watch has told', () => newsCount > known);
    return old;
  };
  await plane.inspect({ facts: FACTS, rows: [] }, 'reported');
  const index = await indexOf('pod-9');
  assert.equal(programCount(index), 1);
  assert.equal(flagsOf(index), 1);
  ip('link del pod-9');
});
