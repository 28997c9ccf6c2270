import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ip } from '../../../linux/netlink/testing/own-namespace.ts';
import type { Answer, Question } from '../../../linux/testing/hosts/host-messages.ts';
import type { PlacedHost } from '../../../linux/testing/hosts/placed-host.ts';
import type { HooksPlane } from './hooks-plane.ts';
import { bring, connectionsOf } from './testing/bring.ts';
import { EXTERNAL_LOCAL, frontendAt, serviceOf } from './testing/ebpf-service.ts';
import {
  addNatChains,
  NODE_FACTS,
  NODE_IPV4,
  NODE_IPV6,
  type NodeNetwork,
  nodeNetwork,
} from './testing/node-network.ts';
import { packetPlane } from './testing/packet-plane.ts';

let network: NodeNetwork;
let plane: HooksPlane;
const NAMES = ['e1', 'e2', 'e3'];
const FAMILIES = [
  { family: 'ipv4', virtual: '10.96.0.1', other: '10.96.0.2', node: NODE_IPV4 },
  { family: 'ipv6', virtual: 'fd96::1', other: 'fd96::2', node: NODE_IPV6 },
] as const;

/** Enough that each of three endpoints is chosen, but once in a hundred thousand times. */
const OFTEN = 30;

before(async () => {
  network = await nodeNetwork('packets-served');
  addNatChains();
  plane = packetPlane(network);
});

after(async () => {
  await plane.remove();
  network.leave();
});

/**
 * Sends requests, and returns the answers if the program has counted each of them. A socket may get
 * the port of an earlier one whose UDP flow still exists: that is no new connection.
 */
async function askCounted(host: PlacedHost, question: Question): Promise<readonly Answer[]> {
  const before = await connectionsOf(plane);
  const answers = await host.ask(question);
  const fresh = question.transport === 'UDP' ? answers.filter(isNewFlow) : answers;
  assert.equal((await connectionsOf(plane)) - before, fresh.length, JSON.stringify(answers));
  return answers;
}

const flows = new Set<string>();

function isNewFlow({ by, saw, sawPort, from }: Answer): boolean {
  const flow = [by, saw, sawPort, from].join(' ');
  const isNew = !flows.has(flow);
  flows.add(flow);
  return isNew;
}

function distinct(answers: readonly Answer[], what: 'by' | 'saw' | 'from'): string[] {
  return [...new Set(answers.map((answer) => answer[what]))].sort();
}

for (const { family, virtual, other, node } of FAMILIES) {
  test(`${family}: a pod reaches every endpoint with its own address`, async () => {
    const endpoints = network.endpoints.map((host) => host[family]);
    const frontends = [frontendAt(virtual)];
    const tcp = serviceOf('web', { frontends, endpoints });
    const udp = serviceOf('dns', { frontends, endpoints, protocol: 'UDP' });
    await bring(plane, [udp, tcp]);
    const question = { address: virtual, port: 80, count: OFTEN };
    for (const way of [
      { transport: 'TCP' },
      { transport: 'UDP' },
      { transport: 'UDP', connected: true },
    ] as const) {
      const answers = await askCounted(network.client, { ...question, ...way });
      assert.deepEqual(distinct(answers, 'by'), NAMES, JSON.stringify(way));
      assert.deepEqual(distinct(answers, 'saw'), [network.client[family]]);
      assert.deepEqual(distinct(answers, 'from'), [virtual]);
    }
  });

  test(`${family}: from outside, masqueraded and not`, async () => {
    const [endpoint] = network.endpoints;
    const endpoints = [endpoint?.[family] ?? ''];
    const web = serviceOf('web', {
      frontends: [
        frontendAt(virtual, { kind: 'external-ip' }),
        frontendAt(other, { kind: 'external-ip', outcomes: EXTERNAL_LOCAL }),
        frontendAt('', { kind: 'node-port', port: 30_080 }),
        frontendAt('', { kind: 'node-port', port: 30_081, outcomes: EXTERNAL_LOCAL }),
      ],
      endpoints,
    });
    await bring(plane, [web]);
    const saw = async (address: string, port: number): Promise<string> => {
      // Masquerading finds the node's address before the endpoint's neighbour entry is resolved.
      ip(`neigh flush dev ${endpoint?.device}`);
      const question = { transport: 'TCP', address, port } as const;
      const [answer] = await askCounted(network.outside, question);
      assert.equal(answer?.by, 'e1');
      assert.equal(answer?.from, address);
      return answer?.saw ?? '';
    };
    const client = network.outside[family];
    const masqueraded = endpoint?.[family].replace(/10$/, '1');
    assert.equal(await saw(virtual, 80), masqueraded);
    assert.equal(await saw(other, 80), client);
    assert.equal(await saw(node, 30_080), masqueraded);
    assert.equal(await saw(node, 30_081), client);
  });

  test(`${family}: a pod that is its own endpoint sees the node`, async () => {
    const web = serviceOf('web', {
      frontends: [frontendAt(virtual)],
      endpoints: [network.client[family]],
    });
    await bring(plane, [web]);
    const question = { transport: 'TCP', address: virtual, port: 80, count: 3 } as const;
    const answers = await askCounted(network.client, question);
    assert.deepEqual(distinct(answers, 'by'), ['client']);
    assert.deepEqual(distinct(answers, 'saw'), [network.client[family].replace(/10$/, '1')]);
  });

  test(`${family}: leaves an address that the node has to packets, and serves it again`, async () => {
    const endpoints = network.endpoints.map((host) => host[family]);
    const nodePort = frontendAt('', { kind: 'node-port', port: 30_080 });
    await bring(plane, [
      serviceOf('web', { frontends: [frontendAt(virtual), nodePort], endpoints }),
    ]);
    const question = { transport: 'TCP', address: virtual, port: 80 } as const;
    const onLoopback = `${virtual}/${family === 'ipv4' ? 32 : 128} dev lo`;
    ip(`addr add ${onLoopback}`);
    await plane.configure({ ...NODE_FACTS, ownAddresses: [node, virtual] });
    const before = await connectionsOf(plane);
    const [left] = await network.client.ask(question);
    assert.equal(left?.by, 'ECONNREFUSED');
    assert.equal(await connectionsOf(plane), before);
    // Node ports are on addresses of the node by nature.
    const atNode = { ...question, address: node, port: 30_080 };
    assert.match((await askCounted(network.client, atNode))[0]?.by ?? '', /^e/);
    ip(`addr del ${onLoopback}`);
    await plane.configure(NODE_FACTS);
    assert.match((await askCounted(network.client, question))[0]?.by ?? '', /^e/);
  });

  test(`${family}: with affinity a client stays with its endpoint until that is removed`, async () => {
    const all = network.endpoints.map((host) => host[family]);
    const sticky = (endpoints: readonly string[]) =>
      serviceOf('sticky', { frontends: [frontendAt(virtual)], endpoints, affinitySeconds: 60 });
    await bring(plane, [sticky(all)]);
    const question = { transport: 'TCP', address: virtual, port: 80, count: OFTEN } as const;
    const stayed = distinct(await askCounted(network.client, question), 'by');
    assert.equal(stayed.length, 1, stayed.join());
    const gone = network.endpoints.find(({ name }) => name === stayed[0])?.[family];
    await bring(plane, [sticky(all.filter((address) => address !== gone))]);
    const moved = distinct(await askCounted(network.client, question), 'by');
    assert.equal(moved.length, 1, moved.join());
    assert.notDeepEqual(moved, stayed);
  });
}
