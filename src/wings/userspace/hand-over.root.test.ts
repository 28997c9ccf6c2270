import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import type { NodeFacts } from '../../dataplanes/contract.ts';
import type { NftablesPlane } from '../../dataplanes/nftables/nftables-plane.ts';
import { bring, newPlane } from '../../dataplanes/nftables/testing/nftables-kernel.ts';
import { row, type Shape } from '../../dataplanes/nftables/testing/nftables-rows.ts';
import { FAMILIES, type Family, type Forwarding, servicePortKey } from '../../forwarding/model.ts';
import { enterOwnNetwork, ip, run } from '../../linux/netlink/testing/own-namespace.ts';
import { type Host, SERVED_PORT, startHost } from '../../linux/testing/hosts/host.ts';
import { joinOutside, joinPod, type PlacedHost } from '../../linux/testing/hosts/placed-host.ts';
import { keepListenerRoutes } from './plane/forwarder-routes.ts';
import { StandInForwarder } from './plane/testing/stand-in-forwarder.ts';
import { dialTransparently } from './plane/testing/transparent-dial.ts';

const NODE = { IPv4: '192.0.2.1', IPv6: 'fd77::1' };
const FACTS: NodeFacts = {
  podDetection: {
    IPv4: { by: 'interface-prefix', prefix: 'pod-' },
    IPv6: { by: 'cidr', cidr: 'fd44::/16' },
  },
  nodePortAddresses: { IPv4: 'all', IPv6: [NODE.IPv6] },
  serviceRanges: ['10.96.0.0/16', 'fd00:96::/112'],
  masqueradeMark: 0x4000,
};
const DROPPED_AFTER_MS = 300;
const BRIDGED_PACKETS_MEET_RULES = '/proc/sys/net/bridge/bridge-nf-call-iptables';

let pod: PlacedHost;
let endpoint: PlacedHost;
let outside: PlacedHost;
let node: Host;
let forwarder: StandInForwarder;
let plane: NftablesPlane;

/** Of each shape in each family, with the only endpoint. */
const SHAPES = ['cluster', 'local', 'none-here'] as const;
let rows: Forwarding[];
const LIMITED = { IPv4: ['192.0.2.9/32'], IPv6: ['fd77::9/128'] };
const CLOSED = { IPv4: ['198.51.100.0/24'], IPv6: ['2001:db8:5::/64'] };

function rowWith(
  family: Family,
  options: { number: number; shape: Shape; allowedSources?: readonly string[] },
) {
  const address = family === 'IPv4' ? endpoint.ipv4 : endpoint.ipv6;
  const local = options.shape === 'local';
  const only = [{ address, port: SERVED_PORT, local }];
  const made = row({ family, ...options });
  return { ...made, clusterEndpoints: only, localEndpoints: local ? only : [] };
}

before(async () => {
  enterOwnNetwork();
  writeFileSync('/proc/sys/net/ipv4/ip_forward', '1');
  writeFileSync('/proc/sys/net/ipv6/conf/all/forwarding', '1');
  [pod, endpoint, outside, node] = await Promise.all([
    startHost('client').then((host) => joinPod(host, 1)),
    startHost('endpoint').then((host) => joinPod(host, 2)),
    startHost('outside').then(joinOutside),
    startHost('node', { here: true }),
  ]);
  // A Service address must have a route, or the node itself could not connect to it.
  ip('route add default via 192.0.2.9', 'route add ::/0 via fd77::9');
  rows = FAMILIES.flatMap((family) => [
    ...SHAPES.map((shape, index) => rowWith(family, { number: index + 1, shape })),
    rowWith(family, { number: 4, shape: 'cluster', allowedSources: LIMITED[family] }),
    rowWith(family, { number: 5, shape: 'cluster', allowedSources: CLOSED[family] }),
    rowWith(family, { number: 6, shape: 'local', ...{ affinitySeconds: 600 } }),
  ]);
  await keepListenerRoutes();
  forwarder = new StandInForwarder();
  plane = newPlane({ forwarder: true });
  await bring(plane, { facts: FACTS, rows });
});

after(() => {
  forwarder[Symbol.dispose]();
  for (const host of [pod, endpoint, outside, node]) host.close();
});

interface Frontend {
  readonly address: string;
  readonly port: number;
}

function frontendOf(row: Forwarding, kind: string): Frontend {
  const found = row.frontends.find((each) => each.kind === kind);
  assert.ok(found);
  const address = kind === 'node-port' ? NODE[row.id.family] : found.address;
  return { address, port: found.port };
}

async function ask(host: Host, to: Frontend, timeoutMs = 5000) {
  const [answer] = await host.ask({ transport: 'TCP', ...to, timeoutMs });
  assert.ok(answer);
  // The source of the answer is the address that the client connected to.
  if (answer.from !== '') assert.equal(answer.from, to.address);
  return answer;
}

const rowsOf = (number: number) => rows.filter(({ id }) => id.service === `service-${number}`);
const KINDS = ['cluster-ip', 'load-balancer-ip', 'node-port'];
const at = ({ address, port }: Frontend) => `${address}#${port}`;

describe('connections to Services while a forwarder is there', () => {
  it('go to its listener for their source class, which learns client and destination', async () => {
    await plane.setForwarder(forwarder.ports);
    for (const number of [1, 2, 6]) {
      for (const row of rowsOf(number)) {
        for (const to of KINDS.map((kind) => frontendOf(row, kind))) {
          await plane.setForwarder(forwarder.ports);
          const [fromPod, fromNode, fromOutside] = [
            await ask(pod, to),
            await ask(node, to),
            await ask(outside, to),
          ];
          assert.equal(fromPod.by, `pod>${at(to)}`);
          assert.equal(fromNode.by, `host>${at(to)}`);
          assert.equal(fromOutside.by, `outside>${at(to)}`);
          const isIPv4 = row.id.family === 'IPv4';
          assert.equal(fromPod.saw, isIPv4 ? pod.ipv4 : pod.ipv6);
          assert.equal(fromOutside.saw, isIPv4 ? outside.ipv4 : outside.ipv6);
        }
      }
    }
  });

  it('go to endpoints where the forwarder has no room for the row, and only there', async () => {
    for (const [index, each] of rowsOf(1).entries()) {
      const other = rowsOf(2)[index];
      assert.ok(other);
      const frontends = KINDS.map((kind) => {
        const { address, port } = frontendOf(each, kind);
        return { address: kind === 'node-port' ? '' : address, port };
      });
      const row = { key: servicePortKey(each.id), family: each.id.family };
      await plane.keepFromForwarder([{ ...row, frontends }]);
      for (const kind of KINDS) {
        await plane.setForwarder(forwarder.ports);
        for (const host of [pod, node, outside]) {
          assert.equal((await ask(host, frontendOf(each, kind))).by, 'endpoint', kind);
        }
        const to = frontendOf(other, kind);
        assert.equal((await ask(pod, to)).by, `pod>${at(to)}`);
      }
      await plane.keepFromForwarder([{ ...row, frontends: [] }]);
      const to = frontendOf(each, 'node-port');
      assert.equal((await ask(pod, to)).by, `pod>${at(to)}`);
    }
  });

  it('of others are dropped as before where the policy is Local and no endpoint is here', async () => {
    for (const row of rowsOf(3)) {
      for (const to of KINDS.slice(1).map((kind) => frontendOf(row, kind))) {
        await plane.setForwarder(forwarder.ports);
        // In IPv6 pods are a range here, which may have those of other nodes: the kernel forwards.
        const byRange = row.id.family === 'IPv6' ? 'endpoint' : undefined;
        assert.equal((await ask(pod, to)).by, byRange ?? `pod>${at(to)}`);
        assert.equal((await ask(node, to)).by, `host>${at(to)}`);
        assert.equal((await ask(outside, to, DROPPED_AFTER_MS)).by, 'TIMEOUT');
      }
    }
  });

  it('are dropped as before outside of the source ranges of a load balancer address', async () => {
    for (const row of [...rowsOf(4), ...rowsOf(5)]) {
      await plane.setForwarder(forwarder.ports);
      const to = frontendOf(row, 'load-balancer-ip');
      const isAllowed = row.id.service === 'service-4';
      const answer = await ask(outside, to, DROPPED_AFTER_MS);
      assert.equal(answer.by, isAllowed ? `outside>${at(to)}` : 'TIMEOUT');
    }
  });

  it('arrive at a listener whose port is that of a node port without endpoints', async () => {
    for (const own of rowsOf(1)) {
      const port = forwarder.ports[own.id.family].outside;
      const none = row({ family: own.id.family, number: 9, shape: 'no-endpoints' });
      const frontends = none.frontends.map((each) =>
        each.kind === 'node-port' ? { ...each, port } : each,
      );
      const taken = { ...none, frontends };
      const which = { key: servicePortKey(none.id), id: none.id };
      await plane.apply([{ ...which, before: 'absent', after: taken }]);
      await plane.setForwarder(forwarder.ports);
      const to = frontendOf(own, 'node-port');
      const answer = await ask(outside, to);
      await plane.apply([{ ...which, before: taken, after: undefined }]);
      assert.equal(answer.by, `outside>${at(to)}`);
    }
  });

  it('reach its address in no other way', async () => {
    outside.ip(
      'route add 169.254.118.118 via 192.0.2.1',
      'route add fdfa:118:118::118 via fd77::1',
    );
    await plane.setForwarder(forwarder.ports);
    for (const row of rowsOf(1)) {
      const address = forwarder.addresses[row.id.family];
      const nodePort = frontendOf(row, 'node-port').port;
      for (const port of [forwarder.ports[row.id.family].outside, nodePort]) {
        for (const host of [outside, node]) {
          const { by } = await ask(host, { address, port }, DROPPED_AFTER_MS);
          assert.equal(by, 'TIMEOUT', `${host.name} to ${address} ${port}`);
        }
      }
    }
  });

  it('arrive also by an interface without an address', async () => {
    run(['ip', 'address', 'flush', 'dev', pod.device]);
    ip(`route add ${pod.ipv4} dev ${pod.device}`, `route add ${pod.ipv6} dev ${pod.device}`);
    const mac = /link\/ether (\S+)/.exec(run(['ip', 'link', 'show', pod.device]))?.[1];
    pod.ip(
      `neigh replace 10.244.1.1 lladdr ${mac} dev eth0`,
      `neigh replace fd44:1::1 lladdr ${mac} dev eth0`,
    );
    for (const row of rowsOf(1)) {
      await plane.setForwarder(forwarder.ports);
      const to = frontendOf(row, 'cluster-ip');
      assert.equal((await ask(pod, to)).by, `pod>${at(to)}`);
    }
  });

  it('arrive also from a bridge whose packets meet the rules', async (t) => {
    if (!existsSync(BRIDGED_PACKETS_MEET_RULES)) return t.skip('the kernel has no br_netfilter');
    writeFileSync(BRIDGED_PACKETS_MEET_RULES, '1');
    const bridged = await startHost('bridged');
    ip(
      'link add name pod-bridge type bridge',
      'addr add 10.200.0.1/24 dev pod-bridge',
      'link set pod-bridge up',
      `link add name port type veth peer name eth0 netns ${bridged.pid}`,
      'link set port master pod-bridge',
      'link set port up',
    );
    bridged.ip(
      'addr add 10.200.0.10/24 dev eth0',
      'link set eth0 up',
      'route add default via 10.200.0.1',
    );
    const [row] = rowsOf(1);
    assert.ok(row);
    await plane.setForwarder(forwarder.ports);
    const to = frontendOf(row, 'cluster-ip');
    const answer = await ask(bridged, to);
    bridged.close();
    assert.deepEqual([answer.by, answer.saw], [`pod>${at(to)}`, '10.200.0.10']);
  });

  it('of the forwarder itself are translated, so that they cannot come back to it', async () => {
    for (const row of rowsOf(1)) {
      await plane.setForwarder(forwarder.ports);
      const to = frontendOf(row, 'cluster-ip');
      assert.match(await dialTransparently(to), /^endpoint /);
    }
  });
});

describe('connections to Services without a forwarder', () => {
  it('go to endpoints at once when its listeners are deleted', async () => {
    for (const row of [...rowsOf(1), ...rowsOf(2)]) {
      for (const to of KINDS.map((kind) => frontendOf(row, kind))) {
        await plane.setForwarder(forwarder.ports);
        assert.match((await ask(pod, to)).by, /^pod>/);
        const before = await plane.notHandedOverCount();
        await plane.setForwarder(undefined);
        for (const host of [pod, node, outside]) assert.equal((await ask(host, to)).by, 'endpoint');
        assert.equal(await plane.notHandedOverCount(), before + 3);
      }
    }
  });

  it('go to endpoints when nobody refreshes its listeners for four seconds', async () => {
    const [first] = rowsOf(1);
    assert.ok(first);
    const to = frontendOf(first, 'cluster-ip');
    await plane.setForwarder(forwarder.ports);
    const sinceMs = performance.now();
    let answer = await ask(pod, to);
    assert.match(answer.by, /^pod>/);
    while (answer.by !== 'endpoint' && performance.now() - sinceMs < 10_000) {
      answer = await ask(pod, to);
    }
    const tookMs = performance.now() - sinceMs;
    assert.ok(answer.by === 'endpoint' && tookMs > 3900 && tookMs < 6000, `${answer.by} ${tookMs}`);
  });

  it('never fail while the table changes between with and without a forwarder', async (t) => {
    const [first] = rowsOf(1);
    assert.ok(first);
    const to = frontendOf(first, 'cluster-ip');
    let isOver = false;
    const answers: string[] = [];
    const asking = [pod, outside, node].map(async (host) => {
      while (!isOver) answers.push((await ask(host, to)).by);
    });
    for (let round = 0; round < 10; round++) {
      const other = newPlane(round % 2 === 0 ? {} : { forwarder: true });
      const { right, differenceCount } = await other.inspect({ facts: FACTS, rows }, 'everything');
      assert.equal(right.size, rows.length);
      assert.ok(differenceCount > 0);
      const again = await other.inspect({ facts: FACTS, rows }, 'everything');
      assert.deepEqual(again.differences, []);
      if (round % 2 === 1) await other.setForwarder(forwarder.ports);
      const count = answers.length;
      while (answers.length < count + 20)
        await Promise.race(asking.map(() => new Promise(setImmediate)));
    }
    isOver = true;
    await Promise.all(asking);
    const handedOver = answers.filter((by) => by.includes('>'));
    const translated = answers.filter((by) => by === 'endpoint');
    t.diagnostic(`${handedOver.length} handed over, ${translated.length} translated`);
    assert.ok(handedOver.length > 0 && translated.length > 0);
    assert.equal(handedOver.length + translated.length, answers.length, answers.join());
  });
});
