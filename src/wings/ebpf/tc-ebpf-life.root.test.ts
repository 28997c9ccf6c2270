import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { startHost } from '../../linux/testing/hosts/host.ts';
import { joinPod } from '../../linux/testing/hosts/placed-host.ts';
import { bring, connectionsOf } from './plane/testing/bring.ts';
import { EXTERNAL_LOCAL, frontendAt, serviceOf } from './plane/testing/ebpf-service.ts';
import {
  addNatChains,
  NODE_FACTS,
  NODE_IPV4,
  type NodeNetwork,
  nodeNetwork,
  setMtu,
} from './plane/testing/node-network.ts';
import { TC_EBPF } from './tc-ebpf.ts';
import { ebpfSettings, type WholeMode, wholeMode } from './testing/whole-mode.ts';

let network: NodeNetwork;
let mode: WholeMode;
const VIRTUAL = '10.96.0.1';
const TO_WEB = { transport: 'TCP', address: VIRTUAL, port: 80 } as const;

before(async () => {
  network = await nodeNetwork('tc-life');
  mode = wholeMode(network);
});

after(async () => {
  await mode.plane.remove();
  network.leave();
});

function web(protocol: 'TCP' | 'UDP' = 'TCP') {
  const endpoints = network.endpoints.map(({ ipv4 }) => ipv4);
  return serviceOf('web', { frontends: [frontendAt(VIRTUAL)], endpoints, protocol });
}

test('serves the first packet of a new pod by nftables, until the program is attached', async () => {
  await bring(mode.plane, [web()]);
  const pod = joinPod(await startHost('fresh'), 9);
  const [first] = await pod.ask(TO_WEB);
  assert.match(first?.by ?? '', /^e\d$/);
  assert.equal(first?.saw, pod.ipv4);
  assert.equal(await connectionsOf(mode.front), 0);
  assert.equal(await connectionsOf(mode.behind), 1);

  const stop = new AbortController();
  const watch = mode.plane.watch(() => undefined, stop.signal);
  const deadlineMs = performance.now() + 10_000;
  while ((await connectionsOf(mode.front)) === 0 && performance.now() < deadlineMs) {
    const [next] = await pod.ask(TO_WEB);
    assert.match(next?.by ?? '', /^e\d$/);
    await delay(10);
  }
  assert.ok((await connectionsOf(mode.front)) > 0, 'the program never came');
  stop.abort();
  await watch;
  pod.close();
});

test('reaches an endpoint on the node itself from pods and from outside', async () => {
  const node = await startHost('node', { here: true });
  const frontends = [frontendAt(VIRTUAL), frontendAt('', { kind: 'node-port', port: 30_080 })];
  await bring(mode.plane, [serviceOf('web', { frontends, endpoints: [NODE_IPV4] })]);
  const [pod] = await network.client.ask(TO_WEB);
  assert.equal(`${pod?.by} ${pod?.saw}`, `node ${network.client.ipv4}`);
  const [outside] = await network.outside.ask({ ...TO_WEB, address: NODE_IPV4, port: 30_080 });
  assert.equal(`${outside?.by} ${outside?.saw}`, `node ${network.outside.ipv4}`);
  node.close();
});

test('leaves node ports on all addresses to nftables, which has them', async () => {
  const facts = { ...NODE_FACTS, nodePortAddresses: { IPv4: 'all', IPv6: 'all' } } as const;
  const port = serviceOf('web', {
    frontends: [frontendAt('', { kind: 'node-port', port: 30_080, outcomes: EXTERNAL_LOCAL })],
    endpoints: network.endpoints.map(({ ipv4 }) => ipv4),
  });
  await bring(mode.plane, [port], { facts });
  const before = await connectionsOf(mode.front);
  const [answer] = await network.outside.ask({ ...TO_WEB, address: NODE_IPV4, port: 30_080 });
  assert.equal(answer?.saw, network.outside.ipv4);
  assert.equal(await connectionsOf(mode.front), before);
});

test('passes an ICMP error of an endpoint to a connected UDP socket', async () => {
  // No process listens there.
  const dns = web('UDP');
  const [endpoint] = dns.clusterEndpoints;
  assert.ok(endpoint);
  await bring(mode.plane, [{ ...dns, clusterEndpoints: [{ ...endpoint, port: 9 }] }]);
  const before = await connectionsOf(mode.front);
  const [rejected] = await network.client.ask({ ...TO_WEB, transport: 'UDP', connected: true });
  assert.equal(rejected?.by, 'ECONNREFUSED');
  assert.equal((await connectionsOf(mode.front)) - before, 1);
});

test('passes ICMP packet-too-big from the path of an endpoint to the sender', async () => {
  const [endpoint] = network.endpoints;
  assert.ok(endpoint);
  const dns = serviceOf('web', {
    frontends: [frontendAt('fd96::1')],
    endpoints: [endpoint.ipv6],
    protocol: 'UDP',
  });
  await bring(mode.plane, [dns]);
  setMtu(endpoint, 1300);
  const question = { ...TO_WEB, transport: 'UDP', address: 'fd96::1', payloadBytes: 1400 } as const;
  // IPv6 routers do not fragment: the first packet is lost, and the sender learns the MTU.
  const [lost] = await network.client.ask({ ...question, timeoutMs: 500 });
  assert.equal(lost?.by, 'TIMEOUT');
  const [learnt] = await network.client.ask(question);
  assert.equal(learnt?.bytes, 1400);
  setMtu(endpoint, 1500);
});

test('starts, restarts, inspects and is removed under held connections', async () => {
  // As a network plugin has: without any NAT chain the kernel stops translating.
  addNatChains();
  const open = () => TC_EBPF.open({ ebpf: ebpfSettings(network) }).plane;
  await mode.plane.remove();
  await bring(open(), [web()]);
  const plane = open();
  const { writeCount, differences } = await bring(plane, [web()]);
  assert.deepEqual(differences, []);
  assert.equal(writeCount, 0);
  assert.deepEqual(await open().diff({ facts: NODE_FACTS, rows: [web()] }), []);
  const held = await network.client.hold(TO_WEB);
  const { by } = await held.speak();
  assert.match(by, /^e\d$/);
  await plane.remove();
  assert.equal((await held.speak()).by, by);
  assert.deepEqual(await plane.read('frontends'), []);
});
