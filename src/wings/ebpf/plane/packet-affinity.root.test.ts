import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { change } from '../../../dataplanes/shared/testing/plane-change.ts';
import { type Forwarding, servicePortKey } from '../../../forwarding/model.ts';
import { ip, run } from '../../../linux/netlink/testing/own-namespace.ts';
import { ManyClients } from '../../../linux/testing/packets/many-clients.ts';
import { openTun, type Tun } from '../../../linux/testing/packets/tun.ts';
import type { HooksPlane } from './hooks-plane.ts';
import { sweepAffinities } from './maps/affinities.ts';
import { openMaps } from './maps/map-set.ts';
import { Tables } from './maps/open-tables.ts';
import { StickyPorts } from './maps/sticky-ports.ts';
import { Pins } from './pins.ts';
import { bring } from './testing/bring.ts';
import { frontendAt, serviceOf } from './testing/ebpf-service.ts';
import { untilSo } from './testing/ingress-links.ts';
import { addNatChains, type NodeNetwork, nodeNetwork } from './testing/node-network.ts';
import { packetPlane, pinFolderOf } from './testing/packet-plane.ts';

let network: NodeNetwork;
let plane: HooksPlane;
let wire: Tun;

const CLIENTS = 'fd44:9::';
const FLOODED = 'fd96::1';
const QUIET = 'fd96::2';
/** Addresses behind the interface, where no host answers. */
const ENDPOINTS = Array.from({ length: 4 }, (_, n) => `fd44:8::${n + 1}`);
const REMEMBERED = 100;
const OF_QUIET = 2 * REMEMBERED;
const ROOM = 262_144;
/** Would fill all of it. */
const FLOOD = ROOM + 10_000;
/** Far below what conntrack has room for. */
const MOST_TRACKED = 50_000;
const SECONDS = 10_800;

function stickyService(name: string, address: string, affinitySeconds = SECONDS): Forwarding {
  const frontends = [frontendAt(address)];
  return serviceOf(name, { frontends, endpoints: ENDPOINTS, protocol: 'UDP', affinitySeconds });
}

const FLOODED_ROW = stickyService('flooded', FLOODED);
const QUIET_ROW = stickyService('quiet', QUIET);

before(async () => {
  network = await nodeNetwork('packet-affinity');
  addNatChains();
  wire = openTun('tun0', 'tun');
  ip('link set tun0 up', 'route add fd44:8::/64 dev tun0', 'route add fd44:9::/64 dev tun0');
  plane = packetPlane(network);
  await bring(plane, [FLOODED_ROW, QUIET_ROW]);
});

after(async () => {
  await plane.remove();
  wire.close();
  network.leave();
});

/** Connections that each endpoint of a Service has received, in the order of the endpoints. */
async function connectionsAt(address: string): Promise<number[]> {
  const row = address === FLOODED ? FLOODED_ROW : QUIET_ROW;
  const counts = await plane.counters();
  return counts
    .filter(({ service }) => service === servicePortKey(row.id))
    .map(({ connections }) => connections);
}

/** The index of the endpoint that each client gets at its first packet from this port. */
async function endpointsOf(service: string, sourcePort: number, from = 0): Promise<number[]> {
  const clients = new ManyClients(wire, { network: CLIENTS, destination: service, sourcePort });
  const chosen: number[] = [];
  let counted = await connectionsAt(service);
  for (let client = from; client < from + REMEMBERED; client++) {
    clients.send(client);
    const now = await connectionsAt(service);
    chosen.push(now.findIndex((connections, index) => connections > (counted[index] ?? 0)));
    counted = now;
  }
  return chosen;
}

/** How the connections of new clients of the flooded Service are spread. */
async function spreadOf(from: number, count: number): Promise<number[]> {
  const flood = new ManyClients(wire, {
    network: CLIENTS,
    destination: FLOODED,
    sourcePort: 40_000,
  });
  const before = await connectionsAt(FLOODED);
  for (let sent = 0; sent < count; sent += MOST_TRACKED) {
    flood.sendAll(from + sent, Math.min(MOST_TRACKED, count - sent));
    // The programs leave what cannot be tracked to the rules, and the kernel frees entries when it has time.
    run(['conntrack', '-F']);
  }
  const after = await connectionsAt(FLOODED);
  return after.map((connections, index) => connections - (before[index] ?? 0));
}

test('keeps the clients of a Service while another one is flooded, and stores new ones', async (t) => {
  const before = await endpointsOf(QUIET, 30_000);
  assert.ok(!before.includes(-1), 'each connection was counted');
  await spreadOf(1000, FLOOD);
  const after = await endpointsOf(QUIET, 30_001);
  const stayed = after.filter((endpoint, client) => endpoint === before[client]).length;
  t.diagnostic(`${stayed} of ${REMEMBERED} clients came back to their endpoint`);
  assert.equal(stayed, REMEMBERED);
  const late = await endpointsOf(QUIET, 30_000, REMEMBERED);
  assert.deepEqual(await endpointsOf(QUIET, 30_001, REMEMBERED), late);
});

test('balances clients that find no room over all endpoints', async () => {
  const count = 4000;
  const spread = await spreadOf(1000 + FLOOD, count);
  assert.equal(
    spread.reduce((sum, each) => sum + each, 0),
    count,
  );
  const share = count / ENDPOINTS.length;
  for (const each of spread) assert.ok(Math.abs(each - share) < share / 5, spread.join());
});

test('reports how full it is, and which Services are at their quota', async (t) => {
  const { remembered, room, full } = await plane.affinityFill();
  t.diagnostic(`${remembered} of ${room} clients`);
  assert.equal(room, ROOM);
  assert.deepEqual(full, [servicePortKey(FLOODED_ROW.id)]);
  const most = Math.ceil(ROOM / 9) + OF_QUIET;
  assert.ok(remembered > 20_000 && remembered <= most, `${remembered}`);
});

/** Sweeps as if this much time had passed; returns how many clients were deleted. */
async function sweptAfter(seconds: number, rows: readonly Forwarding[]): Promise<number> {
  const maps = openMaps(new Pins(pinFolderOf(network.pins)));
  assert.ok(maps);
  const sticky = new StickyPorts();
  for (const row of rows) sticky.add(row);
  const nowNs = (): number => Number(process.hrtime.bigint()) + seconds * 1e9;
  try {
    return await sweepAffinities(new Tables(maps), { sticky: () => sticky, nowNs });
  } finally {
    for (const map of maps.values()) map.close();
  }
}

test('deletes clients after their timeout, and frees their room', async () => {
  const { remembered } = await plane.affinityFill();
  assert.equal(await sweptAfter(0, [FLOODED_ROW, QUIET_ROW]), 0);
  assert.equal((await plane.affinityFill()).remembered, remembered, 'counters are exact');
  assert.equal(await sweptAfter(0, [QUIET_ROW]), remembered - OF_QUIET, 'a Service has gone');
  assert.deepEqual(await plane.affinityFill(), { remembered: OF_QUIET, room: ROOM, full: [] });
  assert.equal(await sweptAfter(SECONDS, [QUIET_ROW]), OF_QUIET);
  assert.equal((await plane.affinityFill()).remembered, 0);
  await spreadOf(500_000, 10);
  assert.equal((await plane.affinityFill()).remembered, 10, 'there is room again');
});

test('deletes them on its own while it watches', async () => {
  await plane.apply([change(FLOODED_ROW, stickyService('flooded', FLOODED, 1))]);
  await spreadOf(600_000, 10);
  const end = new AbortController();
  const watching = plane.watch(() => undefined, end.signal);
  let remembered = -1;
  try {
    await untilSo('no client is remembered', () => {
      void plane.affinityFill().then((fill) => {
        remembered = fill.remembered;
      });
      return remembered === 0;
    });
  } finally {
    end.abort();
    await watching;
  }
});
