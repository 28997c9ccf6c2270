import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import type { NodeFacts } from '../../../dataplanes/contract.ts';
import { ip } from '../../../linux/netlink/testing/own-namespace.ts';
import { type Host, startHost } from '../../../linux/testing/hosts/host.ts';
import type { HooksPlane } from './hooks-plane.ts';
import { bring, connectionsOf } from './testing/bring.ts';
import { everybody, frontendAt, INTERNAL, serviceOf } from './testing/ebpf-service.ts';
import { addNatChains, NODE_FACTS, type NodeNetwork, nodeNetwork } from './testing/node-network.ts';
import { packetPlane } from './testing/packet-plane.ts';

let network: NodeNetwork;
let plane: HooksPlane;
let client: Host;
let neighbour: Host;
const CLIENT = '10.200.0.10';
const NEIGHBOUR = '10.200.0.11';
const VIRTUAL = '10.96.0.1';
const COUNT = 5;
const MASQUERADED = everybody({ action: 'forward', list: 'cluster', masquerade: true });
const BRIDGED_PACKETS_MEET_RULES = '/proc/sys/net/bridge/bridge-nf-call-iptables';
/** The addresses on the bridge are in no pod network: only the bridge identifies them. */
const FACTS: NodeFacts = {
  ...NODE_FACTS,
  podDetection: { IPv4: { by: 'interface', name: 'cbr0' }, IPv6: undefined },
  podNetworks: ['10.200.0.0/24', '10.244.0.0/16'],
};

before(async () => {
  network = await nodeNetwork('packet-bridge');
  addNatChains();
  ip('link add name cbr0 type bridge', 'addr add 10.200.0.1/24 dev cbr0', 'link set cbr0 up');
  [client, neighbour] = await Promise.all([startHost('bridged'), startHost('neighbour')]);
  joinBridge(client, 'port-1', CLIENT);
  joinBridge(neighbour, 'port-2', NEIGHBOUR);
  plane = packetPlane(network);
});

after(async () => {
  await plane.remove();
  client.close();
  neighbour.close();
  network.leave();
});

function joinBridge(host: Host, port: string, address: string): void {
  ip(
    `link add name ${port} type veth peer name eth0 netns ${host.pid}`,
    `link set ${port} master cbr0`,
    // Or a pod that is its own endpoint would not get back what it sent.
    `link set ${port} type bridge_slave hairpin on`,
    `link set ${port} up`,
  );
  host.ip(
    `addr add ${address}/24 dev eth0`,
    'link set eth0 up',
    'route add default via 10.200.0.1',
  );
}

/** Whom a pod on the bridge reaches, and which address that sees. */
async function reach(
  endpoint: string,
  { timeoutMs = 3000, outcomes = INTERNAL } = {},
): Promise<string[]> {
  const of = { frontends: [frontendAt(VIRTUAL, { outcomes })], endpoints: [endpoint] };
  await bring(plane, [serviceOf('web', of)], { facts: FACTS });
  const question = { transport: 'TCP', address: VIRTUAL, port: 80, timeoutMs } as const;
  const answers = await client.ask({ ...question, count: COUNT });
  return [...new Set(answers.map(({ by, saw }) => `${by} ${saw}`.trim()))];
}

/** The same if each connection was decided on by the program, and once though it is met twice. */
async function reachCounted(endpoint: string): Promise<string[]> {
  await bring(plane, [], { facts: FACTS });
  const reached = await reach(endpoint);
  assert.equal(await connectionsOf(plane), COUNT);
  return reached;
}

const skip = existsSync(BRIDGED_PACKETS_MEET_RULES)
  ? false
  : 'this kernel has no rules for bridged packets (br_netfilter)';

test('serves a pod on a bridge port as a pod when bridged packets skip the rules', async () => {
  if (!skip) writeFileSync(BRIDGED_PACKETS_MEET_RULES, '0');
  const endpoint = network.endpoints[0]?.ipv4 ?? '';
  assert.deepEqual(await reachCounted(endpoint), [`e1 ${CLIENT}`]);
});

test('serves bridged packets at the port when they traverse the rules', { skip }, async () => {
  writeFileSync(BRIDGED_PACKETS_MEET_RULES, '1');
  const endpoint = network.endpoints[0]?.ipv4 ?? '';
  assert.deepEqual(await reachCounted(endpoint), [`e1 ${CLIENT}`]);
  assert.deepEqual(await reachCounted(NEIGHBOUR), [`neighbour ${CLIENT}`]);
  // Itself, by way of the node.
  assert.deepEqual(await reachCounted(CLIENT), ['bridged 10.200.0.1']);
});

for (const bridgedMeetRules of ['0', '1']) {
  test(`masqueraded, where bridged packets meet rules is ${bridgedMeetRules}`, {
    skip,
  }, async () => {
    writeFileSync(BRIDGED_PACKETS_MEET_RULES, bridgedMeetRules);
    const endpoint = network.endpoints[0]?.ipv4 ?? '';
    assert.deepEqual(await reach(endpoint, { outcomes: MASQUERADED }), ['e1 10.244.2.1']);
  });
}

test('the failure this guards against: with the program on the bridge alone, the first packet is lost', {
  skip,
}, async () => {
  await plane.remove();
  plane = packetPlane(network, { interfaces: ['cbr0', 'pod-*', 'eth0'] });
  // Sent again after a second, it would find the way.
  assert.deepEqual(await reach(NEIGHBOUR, { timeoutMs: 500 }), ['TIMEOUT']);
});
