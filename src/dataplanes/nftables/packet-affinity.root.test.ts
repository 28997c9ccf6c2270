import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { before, describe, it } from 'node:test';
import type { Endpoint, Forwarding } from '../../forwarding/model.ts';
import { servicePortKey } from '../../forwarding/model.ts';
import { enterOwnNetwork, ip } from '../../linux/netlink/testing/own-namespace.ts';
import { ManyClients } from '../../linux/testing/packets/many-clients.ts';
import { openTun, type Tun } from '../../linux/testing/packets/tun.ts';
import type { NftablesPlane } from './nftables-plane.ts';
import { MOST_CLIENTS, MOST_CLIENTS_OF_A_LIST } from './nftables-sets.ts';
import { bring, newPlane, nft } from './testing/nftables-kernel.ts';
import { FACTS, row } from './testing/nftables-rows.ts';

const CLIENTS = 'fd44:9::';
const FLOOD = 40_000;
const REMEMBERED = 100;

let wire: Tun;
let plane: NftablesPlane;

/** Endpoints behind the interface, where no host answers. */
const ENDPOINTS: readonly Endpoint[] = Array.from({ length: 4 }, (_, n) => ({
  address: `fd44:8::${n + 1}`,
  port: 8080,
  local: false,
}));

function sticky(number: number): Forwarding {
  const of = row({ number, family: 'IPv6', protocol: 'UDP', affinitySeconds: 10_800 });
  return { ...of, clusterEndpoints: ENDPOINTS };
}

const [FLOODED, QUIET, LATE] = [sticky(1), sticky(2), sticky(3)];

function addressOf({ frontends: [first] }: Forwarding): string {
  assert.ok(first);
  return first.address;
}

before(async () => {
  enterOwnNetwork();
  wire = openTun('tun0', 'tun');
  writeFileSync('/proc/sys/net/ipv6/conf/all/forwarding', '1');
  ip('link set tun0 up', 'route add fd44:8::/64 dev tun0', 'route add fd44:9::/64 dev tun0');
  plane = newPlane();
  await bring(plane, { facts: FACTS, rows: [FLOODED, QUIET, LATE] });
});

/** Connections that each endpoint of a Service has received, by endpoint. */
async function connectionsAt({ id }: Forwarding): Promise<Map<string, number>> {
  const counts = await plane.counters();
  const own = counts.filter(({ service }) => service === servicePortKey(id));
  return new Map(own.map(({ endpoint, connections }) => [endpoint, connections]));
}

/** The endpoint that each client gets at its first packet from this port. */
async function endpointsOf(service: Forwarding, sourcePort: number): Promise<string[]> {
  const destination = addressOf(service);
  const clients = new ManyClients(wire, { network: CLIENTS, destination, sourcePort });
  const chosen: string[] = [];
  let counted = await connectionsAt(service);
  for (let client = 0; client < REMEMBERED; client++) {
    clients.send(client);
    const now = await connectionsAt(service);
    const [more = ''] = [...now.keys()].filter((each) => now.get(each) !== counted.get(each));
    chosen.push(more);
    counted = now;
  }
  return chosen;
}

/** How the connections of new clients are spread. */
async function spreadOf(from: number, count: number, row = FLOODED): Promise<number[]> {
  const destination = addressOf(row);
  const flood = new ManyClients(wire, { network: CLIENTS, destination, sourcePort: 40_000 });
  const counted = await connectionsAt(row);
  flood.sendAll(from, count);
  const now = await connectionsAt(row);
  return [...now].map(([endpoint, connections]) => connections - (counted.get(endpoint) ?? 0));
}

function assertSpread(spread: readonly number[], count: number): void {
  const all = spread.reduce((sum, each) => sum + each, 0);
  assert.equal(all, count, 'each connection was translated');
  const share = count / ENDPOINTS.length;
  for (const each of spread) assert.ok(Math.abs(each - share) < share / 5, spread.join());
}

describe('session affinity under a flood of clients of one Service', () => {
  it('keeps the clients of another Service, and balances those that find no room', async (t) => {
    const first = await endpointsOf(QUIET, 30_000);
    assert.ok(!first.includes(''), 'each connection was counted');
    assertSpread(await spreadOf(1000, FLOOD), FLOOD);
    const { remembered, room, full } = await plane.affinityFill();
    t.diagnostic(`${remembered} of ${room} clients are remembered`);
    assert.equal(room, 2 * MOST_CLIENTS);
    const most = MOST_CLIENTS_OF_A_LIST / 2 + REMEMBERED;
    assert.ok(remembered > REMEMBERED && remembered < most * 1.1, `${remembered}`);
    assert.deepEqual(full, [servicePortKey(FLOODED.id)]);
    // New ones, beyond the quota.
    assertSpread(await spreadOf(1000 + FLOOD, 4000), 4000);
    const again = await endpointsOf(QUIET, 30_001);
    assert.deepEqual(again, first, 'every client came back to its endpoint');
  });

  it('balances clients of a list beyond those that may be in use', async () => {
    for (const inUse of [FLOODED, QUIET]) await endpointsOf(inUse, 30_002);
    const before = await plane.affinityFill();
    const others = Array.from({ length: 65_536 - 2 }, (_, n) => `${2 ** 24 + n}`);
    nft(`add element ip6 fairlead new-clients { ${others.join()} }`);
    await endpointsOf(LATE, 30_000);
    assert.equal((await plane.affinityFill()).remembered, before.remembered);
    assertSpread(await spreadOf(1000, 4000, LATE), 4000);
  });
});
