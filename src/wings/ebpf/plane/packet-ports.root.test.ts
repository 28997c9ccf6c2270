import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { change } from '../../../dataplanes/shared/testing/plane-change.ts';
import type { Transport } from '../../../linux/testing/hosts/host-messages.ts';
import type { HooksPlane } from './hooks-plane.ts';
import { bring, connectionsOf } from './testing/bring.ts';
import { everybody, frontendAt, serviceOf } from './testing/ebpf-service.ts';
import { addNatChains, type NodeNetwork, nodeNetwork } from './testing/node-network.ts';
import { packetPlane } from './testing/packet-plane.ts';

let network: NodeNetwork;
let plane: HooksPlane;

before(async () => {
  network = await nodeNetwork('packet-ports');
  addNatChains();
  plane = packetPlane(network);
});

after(async () => {
  await plane.remove();
  network.leave();
});

const FAMILIES = [
  { family: 'ipv4', virtuals: ['10.96.0.1', '10.96.0.2'] },
  { family: 'ipv6', virtuals: ['fd96::1', 'fd96::2'] },
] as const;

for (const { family, virtuals } of FAMILIES) {
  for (const transport of ['TCP', 'UDP'] as const) {
    test(`${family} ${transport}: one port of a client leads to one endpoint by two addresses`, async () => {
      const endpoints = network.endpoints.slice(0, 1).map((host) => host[family]);
      const frontends = virtuals.map((address) => frontendAt(address));
      await bring(plane, [serviceOf('web', { frontends, endpoints, protocol: transport })]);
      const peer = { transport, port: 80, sourcePort: 40_001, connected: true };
      const held = await Promise.all(
        virtuals.map((address) => network.client.hold({ ...peer, address })),
      );
      const answers = [];
      for (const each of [...held, ...held]) answers.push(await each.speak());
      assert.deepEqual(
        answers.map(({ by, from }) => `${by} ${from}`),
        [...virtuals, ...virtuals].map((address) => `e1 ${address}`),
      );
      const [first, second, firstAgain, secondAgain] = answers.map(({ sawPort }) => sawPort);
      assert.notEqual(first, second, 'the endpoint cannot tell the two apart');
      assert.deepEqual([first, second], [firstAgain, secondAgain]);
    });
  }
}

test('distinguishes two clients with the same port behind one address of the node', async () => {
  const endpoints = network.endpoints.slice(0, 1).map(({ ipv4 }) => ipv4);
  const masqueraded = everybody({ action: 'forward', list: 'cluster', masquerade: true });
  const frontends = [frontendAt('203.0.113.1', { kind: 'external-ip', outcomes: masqueraded })];
  for (const transport of ['TCP', 'UDP'] as const) {
    await bring(plane, [serviceOf('web', { frontends, endpoints, protocol: transport })]);
    const peer = { transport, address: '203.0.113.1', port: 80, sourcePort: 40_003 };
    const held = [await network.client.hold(peer), await network.outside.hold(peer)];
    const answers = [];
    for (const each of [...held, ...held]) answers.push(await each.speak());
    assert.deepEqual([...new Set(answers.map(({ by, saw }) => `${by} ${saw}`))], ['e1 10.244.2.1']);
    assert.equal(new Set(answers.map(({ sawPort }) => sawPort)).size, 2);
  }
});

const REOPENS = 300;

test('reuses a port at once after it is closed, without a failure', async (t) => {
  const [one, other] = network.endpoints.map(({ ipv4 }) => ipv4);
  const web = (endpoint = '') =>
    serviceOf('web', { frontends: [frontendAt('10.96.0.1')], endpoints: [endpoint] });
  await bring(plane, [web(one)]);
  const before = await connectionsOf(plane);
  const question = { ...TO_WEB, sourcePort: 40_002, count: REOPENS };
  const answers = await network.client.ask(question);
  assert.deepEqual([...new Set(answers.map(({ by }) => by))], ['e1']);
  assert.equal((await connectionsOf(plane)) - before, REOPENS, 'each was decided by the program');
  await plane.apply([change(web(one), web(other))]);
  const moved = await network.client.ask({ ...question, count: 20 });
  assert.deepEqual([...new Set(moved.map(({ by }) => by))], ['e2']);
  t.diagnostic(`${REOPENS} reopens from one port: none failed`);
});

const TO_WEB = { transport: 'TCP' as Transport, address: '10.96.0.1', port: 80 };
