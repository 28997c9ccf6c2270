import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Outcome } from '../../forwarding/model.ts';
import { KernelConntrack } from '../../linux/conntrack/conntrack.ts';
import type { Flow } from '../../linux/conntrack/flow.ts';
import { run } from '../../linux/netlink/testing/own-namespace.ts';
import { bring, connectionsOf } from './plane/testing/bring.ts';
import { EXTERNAL_LOCAL, everybody, frontendAt, serviceOf } from './plane/testing/ebpf-service.ts';
import { NODE_FACTS, type NodeNetwork, nodeNetwork } from './plane/testing/node-network.ts';
import { packetPlane } from './plane/testing/packet-plane.ts';
import { type WholeMode, wholeMode } from './testing/whole-mode.ts';

let network: NodeNetwork;
let mode: WholeMode;
const VIRTUAL = '10.96.0.1';
const TO_WEB = { transport: 'TCP', address: VIRTUAL, port: 80 } as const;
/** How long to wait for an answer that should not come. */
const SILENCE_MS = 1000;

before(async () => {
  network = await nodeNetwork('tc-behind');
  mode = wholeMode(network);
});

after(async () => {
  await mode.plane.remove();
  network.leave();
});

function endpoints(): string[] {
  return network.endpoints.map(({ ipv4 }) => ipv4);
}

/** Every conntrack entry to the port of the Services here. */
async function flows(): Promise<Flow[]> {
  const question = { protocols: new Set([6, 17]), destinationPorts: new Set([80]) };
  const found = await Array.fromAsync(
    new KernelConntrack().flows(question, AbortSignal.timeout(10_000)),
  );
  return found.flat();
}

test('adds the NAT chains without which the program alone translates nothing', async () => {
  const web = serviceOf('web', { frontends: [frontendAt(VIRTUAL)], endpoints: endpoints() });
  const alone = packetPlane(network);
  await bring(alone, [web]);
  const [nobody] = await network.client.ask({ ...TO_WEB, timeoutMs: SILENCE_MS });
  assert.equal(nobody?.from, '', `${nobody?.by} answered`);
  await alone.remove();

  await bring(mode.plane, [web]);
  const answers = await network.client.ask({ ...TO_WEB, count: 20 });
  assert.ok(answers.every(({ by }) => /^e\d$/.test(by)));
  assert.equal(await connectionsOf(mode.front), 20);
  assert.equal(await connectionsOf(mode.behind), 0);
});

for (const [outcome, answer] of [
  [{ action: 'reject' }, 'ECONNREFUSED'],
  [{ action: 'drop' }, 'TIMEOUT'],
] as readonly [Outcome, string][]) {
  test(`${outcome.action}: the packet passes the program and traverses the rules`, async () => {
    const frontends = [frontendAt(VIRTUAL, { outcomes: everybody(outcome) })];
    const tcp = serviceOf('web', { frontends, endpoints: [] });
    const udp = serviceOf('dns', { frontends, endpoints: [], protocol: 'UDP' });
    await bring(mode.plane, [udp, tcp]);
    await forget();
    for (const host of [network.client, network.outside]) {
      for (const transport of ['TCP', 'UDP'] as const) {
        const question = { ...TO_WEB, transport, connected: true, timeoutMs: SILENCE_MS };
        const [got] = await host.ask(question);
        assert.equal(got?.by, answer, `${host.name} ${transport}`);
      }
    }
    assert.deepEqual(await flows(), []);
  });
}

test('leaves source ranges to nftables, which serves allowed sources only', async () => {
  const of = { kind: 'load-balancer-ip', outcomes: EXTERNAL_LOCAL } as const;
  const lb = (range: string) =>
    serviceOf('lb', {
      frontends: [frontendAt('203.0.113.10', { ...of, allowedSources: [range] })],
      endpoints: endpoints(),
    });
  const question = { ...TO_WEB, address: '203.0.113.10', timeoutMs: SILENCE_MS };
  await bring(mode.plane, [lb('192.0.2.0/24')]);
  const [allowed] = await network.outside.ask(question);
  assert.equal(allowed?.saw, network.outside.ipv4);
  await bring(mode.plane, [lb('198.51.100.0/24')]);
  const [denied] = await network.outside.ask(question);
  assert.equal(denied?.by, 'TIMEOUT');
  assert.equal(await connectionsOf(mode.front), 0);
});

/** As a network plugin does: masquerades what pods send out of their network. */
const PLUGIN = `table ip plugin {
  chain out {
    type nat hook postrouting priority 100;
    ip saddr 10.244.0.0/16 ip daddr != 10.244.0.0/16 masquerade
  }
}`;

test('masquerades to an endpoint outside of the pod network by the rules of the plugin', async () => {
  const web = serviceOf('web', {
    frontends: [frontendAt(VIRTUAL)],
    endpoints: [network.outside.ipv4],
  });
  run(['nft', '-f', '-'], PLUGIN);
  try {
    await bring(mode.plane, [web]);
    const [masqueraded] = await network.client.ask(TO_WEB);
    assert.equal(masqueraded?.by, 'outside');
    assert.equal(masqueraded?.saw, '192.0.2.1');

    const wrong = { ...NODE_FACTS, podNetworks: ['0.0.0.0/0', '::/0'] };
    await bring(mode.plane, [web], { facts: wrong });
    const [bare] = await network.client.ask(TO_WEB);
    assert.equal(bare?.saw, network.client.ipv4, 'what this guards against does not happen');
  } finally {
    run(['nft', 'delete', 'table', 'ip', 'plugin']);
  }
});

/** Deletes the conntrack entries to the Services here; returns their count. */
async function forget(): Promise<number> {
  return (await new KernelConntrack().remove(await flows())).length;
}

test('continues or resets a connection whose conntrack entry was deleted, and never hangs it', async (t) => {
  const web = serviceOf('web', { frontends: [frontendAt(VIRTUAL)], endpoints: endpoints() });
  await bring(mode.plane, [web]);
  const ends = new Map<string, number>();
  for (let round = 0; round < 12; round++) {
    const held = await network.client.hold({ ...TO_WEB, sourcePort: 41_000 + round });
    const { by: first } = await held.speak();
    assert.ok((await forget()) > 0);
    const { by } = await held.speak();
    assert.ok(by === first || by === 'ECONNRESET' || by === 'CLOSED', `${first}, then ${by}`);
    const end = by === first ? 'goes on' : 'reset';
    ends.set(end, (ends.get(end) ?? 0) + 1);
  }
  t.diagnostic(`after a flush: ${JSON.stringify(Object.fromEntries(ends))}`);
});
