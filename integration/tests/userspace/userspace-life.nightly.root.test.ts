import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { PROTOCOL_TCP } from '../../../src/linux/conntrack/conntrack-protocol.ts';
import { run } from '../../../src/linux/netlink/testing/own-namespace.ts';
import type { Answer } from '../../../src/linux/testing/hosts/host-messages.ts';
import type { CopiedCount } from '../../../src/modes/copied-connections.ts';
import { allParts } from '../../../src/modes/mode-registry.ts';
import { NFTABLES } from '../../../src/modes/nftables.ts';
import type { Part } from '../../../src/modes/part.ts';
import { until } from '../../../src/time/testing/until.ts';
import { bring } from '../../../src/wings/ebpf/plane/testing/bring.ts';
import { NODE_FACTS } from '../../../src/wings/ebpf/plane/testing/node-network.ts';
import { TC_EBPF } from '../../../src/wings/ebpf/tc-ebpf.ts';
import { ebpfSettings } from '../../../src/wings/ebpf/testing/whole-mode.ts';
import { ForwarderFlows } from '../../../src/wings/userspace/plane/forwarder-flows.ts';
import { assertAllServed, connectionCount, TO_WEB, UserspaceSite } from './userspace-site.ts';
import type { WholeUserspace } from './whole-userspace.ts';

const site = UserspaceSite.forTests();

test('copies connections in the forwarder, and counts them', async () => {
  await using mode = await site.userspace().start([site.web()]);
  assertAllServed(await site.network.client.ask({ ...TO_WEB, count: 20 }));
  assert.equal(await connectionCount(mode), 20);
  const all: readonly CopiedCount[] = (await mode.plane.read('counters')) ?? [];
  const counts = all.filter(({ streams }) => streams);
  assert.equal(
    counts.reduce((sum, { streams }) => sum + (streams?.connections ?? 0), 0),
    20,
  );
});

test('a killed forwarder costs only its open connections', async () => {
  await using mode = await site.userspace().start([site.web()]);
  const held = await site.network.client.hold(TO_WEB);
  assert.match((await held.speak()).by, /^e\d$/);
  const pid = await mode.pid();
  assert.ok(pid);
  const stop = site.keepAsking();
  await delay(200);
  process.kill(pid, 'SIGKILL');
  assert.match((await held.speak()).by, /ECONNRESET|CLOSED|EPIPE/);
  await until('another forwarder', async () => {
    const now = await mode.pid();
    return now !== undefined && now !== pid && (await mode.serves()) === 'forwarder';
  });
  assert.ok(mode.drifts.some((what) => what.startsWith(`the forwarder (pid ${pid}) ended`)));
  assertAllServed((await stop()).filter(isNotCut(1)));
  const before = await connectionCount(mode);
  assertAllServed(await site.network.client.ask({ ...TO_WEB, count: 5 }));
  assert.equal((await connectionCount(mode)) - before, 5);
});

/** One connection may be open at the moment of the kill. */
function isNotCut(most: number): (answer: Answer) => boolean {
  let cut = 0;
  return ({ by }) => /^e\d$/.test(by) || ++cut > most;
}

for (const [how, end] of [
  ['ends', (mode: WholeUserspace) => mode.end()],
  ['is killed', (mode: WholeUserspace) => mode.crash()],
] as const) {
  test(`an agent that ${how} and starts again costs nothing`, async () => {
    await using first = await site.userspace().start([site.web()]);
    const held = await site.network.client.hold(TO_WEB);
    const { by } = await held.speak();
    const pid = await first.pid();
    const stop = site.keepAsking();
    await end(first);
    await delay(300);
    await using second = await site.userspace().start([site.web()]);
    assert.equal(await second.pid(), pid);
    assert.equal(await second.serves(), 'forwarder');
    assert.equal((await held.speak()).by, by);
    assertAllServed(await stop());
  });
}

test('falls back to nftables without the program of the forwarder, and says so', async () => {
  await using mode = await site
    .userspace({ forwarderProgram: '/nowhere/forwarder.mjs' })
    .start([site.web()]);
  assertAllServed(await site.network.client.ask({ ...TO_WEB, count: 5 }));
  assert.match(mode.warnings.join(), /falling back to nftables: .*FORWARDER_MISSING/);
  const attached = await mode.plane.read('attachments');
  assert.deepEqual(
    attached?.filter(({ isAttached }) => !isAttached).map(({ name }) => name),
    ['process', 'listeners IPv4'],
  );
});

test('switches between modes under connections without a failure', async () => {
  const around = { ebpf: ebpfSettings(site.network), runFolder: site.folder.path };
  const asked: Answer[] = [];
  const held = [];
  await bring(NFTABLES.open(around).plane, [site.web()]);
  for (const mode of [NFTABLES, 'userspace', TC_EBPF, 'userspace', NFTABLES] as const) {
    const stop = site.keepAsking();
    const whole =
      mode === 'userspace' ? await site.userspace(around).start([site.web()]) : undefined;
    if (mode !== 'userspace') await bring(mode.open(around).plane, [site.web()]);
    const own = mode === 'userspace' ? ['forwarder', 'nftables'] : mode.parts.map(nameOf);
    for (const part of await allParts()) {
      if (!own.includes(part.name)) await part.open(around).remove();
    }
    const connection = await site.network.client.hold(TO_WEB);
    held.push({ connection, by: (await connection.speak()).by });
    for (const each of held) assert.equal((await each.connection.speak()).by, each.by);
    await delay(500);
    await whole?.end();
    asked.push(...(await stop()));
  }
  assertAllServed(asked);
  for (const { connection, by } of held) assert.equal((await connection.speak()).by, by);
});

function nameOf({ name }: Part): string {
  return name;
}

test('a cleanup leaves no process, socket, rule, route or table', async () => {
  await using mode = await site.userspace().start([site.web()]);
  const pid = await mode.pid();
  assert.ok(pid);
  const held = await site.network.client.hold(TO_WEB);
  assert.match((await held.speak()).by, /^e\d$/);
  await mode.end();
  await site.cleanUp();
  assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
  assert.deepEqual(
    readdirSync(site.folder.path).filter((name) => name.endsWith('.sock')),
    [],
  );
  assert.doesNotMatch(run(['nft', 'list', 'tables']), /fairlead/);
  assert.doesNotMatch(run(['ip', 'rule']) + run(['ip', '-6', 'rule']), /118/);
  assert.doesNotMatch(run(['ip', 'route', 'show', 'table', 'all', 'proto', '119']), /./);
  assert.doesNotMatch(run(['ip', '-6', 'route', 'show', 'table', 'all', 'proto', '119']), /./);
});

test('lists its connections as flows, and ends exactly one', async () => {
  await using _ = await site.userspace().start([site.web()]);
  const [first, second] = [
    await site.network.client.hold(TO_WEB),
    await site.network.client.hold(TO_WEB),
  ];
  const { by, sawPort } = await first.speak();
  await second.speak();
  const flows = new ForwarderFlows(site.folder.path);
  const question = { protocols: new Set([PROTOCOL_TCP]), destinationPorts: new Set([80]) };
  const found = (await Array.fromAsync(flows.flows(question, AbortSignal.timeout(5000)))).flat();
  assert.equal(found.length, 2);
  const other = found.filter(({ reply }) => reply.destinationPort !== sawPort);
  assert.equal(other.length, 1);
  assert.equal((await flows.remove(other)).length, 1);
  assert.match((await second.speak()).by, /ECONNRESET|CLOSED|EPIPE/);
  assert.equal((await first.speak()).by, by);
  assert.equal((await flows.remove(other)).length, 0);
});

test('keeps the client out of a frontend that forwards nothing, in the kernel', async () => {
  await using mode = await site.userspace().start([site.web([])]);
  const [answer] = await site.network.client.ask({ ...TO_WEB, timeoutMs: 1000 });
  assert.notEqual(answer?.by, '');
  assert.deepEqual(await mode.plane.diff({ facts: NODE_FACTS, rows: [site.web([])] }), []);
});
