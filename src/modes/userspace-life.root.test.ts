import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { DataPlane, RowChange } from '../dataplanes/contract.ts';
import {
  addNatChains,
  NODE_FACTS,
  type NodeNetwork,
  nodeNetwork,
} from '../dataplanes/ebpf/testing/node-network.ts';
import { bring, compiledProgram } from '../dataplanes/ebpf/testing/packet-plane.ts';
import { frontendAt, serviceOf } from '../dataplanes/ebpf/testing/service.ts';
import { ForwarderFlows } from '../dataplanes/userspace/forwarder-flows.ts';
import { type Forwarding, servicePortKey } from '../forwarding/model.ts';
import { PROTOCOL_TCP } from '../linux/conntrack/protocol.ts';
import { run } from '../linux/netlink/testing/own-namespace.ts';
import type { Answer } from '../linux/testing/hosts/messages.ts';
import { until } from '../time/testing/until.ts';
import { NFTABLES } from './nftables.ts';
import type { Part } from './part.ts';
import { ALL_PARTS } from './registry.ts';
import { TC_EBPF } from './tc-ebpf.ts';
import { ebpfSettings } from './testing/whole-mode.ts';
import { ownRunFolder, WholeUserspace } from './testing/whole-userspace.ts';

let network: NodeNetwork;
const folder = ownRunFolder();
const VIRTUAL = '10.96.0.1';
const TO_WEB = { transport: 'TCP', address: VIRTUAL, port: 80 } as const;
/** A connection in the queue of a killed forwarder waits for the next, whose start may take seconds. */
const PATIENTLY = { ...TO_WEB, timeoutMs: 30_000 };

before(async () => {
  network = await nodeNetwork('userspace');
  addNatChains();
  for (const name of ['sock', 'tc'] as const) compiledProgram(name);
});

beforeEach(async () => await cleanUp());

after(async () => {
  await cleanUp();
  network.leave();
  folder.leave();
});

async function cleanUp(): Promise<void> {
  const around = { ebpf: ebpfSettings(network), runFolder: folder.path, isCleanup: true } as const;
  for (const part of ALL_PARTS) await part.open(around).remove();
}

function web(endpoints = network.endpoints.map(({ ipv4 }) => ipv4)): Forwarding {
  return serviceOf('web', { frontends: [frontendAt(VIRTUAL)], endpoints });
}

function changeOf(before: Forwarding, after: Forwarding): RowChange {
  return { key: servicePortKey(after.id), id: after.id, before, after };
}

function userspace(around = {}): WholeUserspace {
  return new WholeUserspace({ runFolder: folder.path, ...around });
}

/** Connects again and again until it is stopped; gives every answer. */
function keepAsking(): () => Promise<readonly Answer[]> {
  let isOver = false;
  const answers: Answer[] = [];
  const asking = (async () => {
    while (!isOver) answers.push(...(await network.client.ask(PATIENTLY)));
  })();
  return async () => {
    isOver = true;
    await asking;
    return answers;
  };
}

function assertAllServed(answers: readonly Answer[]): void {
  const failed = answers.filter(({ by }) => !/^e\d$/.test(by));
  assert.deepEqual(failed, [], `${failed.length} of ${answers.length} failed`);
  assert.ok(answers.length > 0);
}

async function connectionCount(plane: DataPlane): Promise<number> {
  return (await plane.forwarder?.())?.process?.totals.connections ?? 0;
}

test('copies connections in the forwarder, and counts them', async () => {
  await using mode = await userspace().start([web()]);
  assertAllServed(await network.client.ask({ ...TO_WEB, count: 20 }));
  assert.equal(await connectionCount(mode.plane), 20);
  const counts = (await mode.plane.counters()).filter(({ streams }) => streams);
  assert.equal(
    counts.reduce((sum, { streams }) => sum + (streams?.connections ?? 0), 0),
    20,
  );
});

test('a killed forwarder costs only its open connections', async () => {
  await using mode = await userspace().start([web()]);
  const held = await network.client.hold(TO_WEB);
  assert.match((await held.speak()).by, /^e\d$/);
  const pid = await mode.pid();
  assert.ok(pid);
  const stop = keepAsking();
  await delay(200);
  process.kill(pid, 'SIGKILL');
  assert.match((await held.speak()).by, /ECONNRESET|CLOSED|EPIPE/);
  await until('another forwarder', async () => {
    const now = await mode.pid();
    return now !== undefined && now !== pid && (await mode.serves()) === 'forwarder';
  });
  assert.ok(mode.drifts.some((what) => what.startsWith(`the forwarder (pid ${pid}) ended`)));
  assertAllServed((await stop()).filter(isNotCut(1)));
  const before = await connectionCount(mode.plane);
  assertAllServed(await network.client.ask({ ...TO_WEB, count: 5 }));
  assert.equal((await connectionCount(mode.plane)) - before, 5);
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
    await using first = await userspace().start([web()]);
    const held = await network.client.hold(TO_WEB);
    const { by } = await held.speak();
    const pid = await first.pid();
    const stop = keepAsking();
    await end(first);
    await delay(300);
    await using second = await userspace().start([web()]);
    assert.equal(await second.pid(), pid);
    assert.equal(await second.serves(), 'forwarder');
    assert.equal((await held.speak()).by, by);
    assertAllServed(await stop());
  });
}

test('replaces a forwarder of another build, and its connections go on', async () => {
  await using first = await userspace({ userspace: { threads: 1 } }).start([web()]);
  const held = await network.client.hold(TO_WEB);
  const { by } = await held.speak();
  const pid = await first.pid();
  const stop = keepAsking();
  await first.end();
  await using second = await userspace({ userspace: { threads: 2 } }).start([web()]);
  assert.notEqual(await second.pid(), pid);
  assert.equal((await held.speak()).by, by);
  assert.equal((await second.plane.forwarder?.())?.handedOver, 1);
  assertAllServed(await stop());
});

test('a forwarder that is told to end by another process is replaced, with its connections', async () => {
  await using mode = await userspace().start([web()]);
  const held = await network.client.hold(TO_WEB);
  const { by } = await held.speak();
  const pid = await mode.pid();
  assert.ok(pid);
  const stop = keepAsking();
  process.kill(pid, 'SIGTERM');
  await until('another forwarder', async () => {
    const now = await mode.pid();
    return now !== undefined && now !== pid && (await mode.serves()) === 'forwarder';
  });
  assert.equal((await held.speak()).by, by);
  assert.equal((await mode.plane.forwarder?.())?.handedOver, 1);
  assertAllServed(await stop());
});

test('a forwarder that hangs gets no more connections within 3 s, and more when it answers', async () => {
  await using mode = await userspace().start([web()]);
  const held = await network.client.hold(TO_WEB);
  const { by } = await held.speak();
  const pid = await mode.pid();
  assert.ok(pid);
  process.kill(pid, 'SIGSTOP');
  const stoppedMs = performance.now();
  await until('the kernel', async () => (await mode.serves()) === 'kernel');
  assert.ok(performance.now() - stoppedMs < 3500);
  assertAllServed(await network.client.ask({ ...TO_WEB, count: 20 }));
  // A change while it hangs must reach it before the next connection does.
  const [only] = network.endpoints;
  const after = web([only?.ipv4 ?? '']);
  await mode.plane.apply([changeOf(web(), after)]);
  mode.rows = [after];
  process.kill(pid, 'SIGCONT');
  await until('the forwarder', async () => (await mode.serves()) === 'forwarder');
  assert.equal(await mode.pid(), pid);
  assert.equal((await held.speak()).by, by);
  const answers = await network.client.ask({ ...TO_WEB, count: 10 });
  assert.deepEqual(new Set(answers.map((answer) => answer.by)), new Set([only?.name]));
});

test('a forwarder that hangs for long is killed, and the next one accepts what waited', async () => {
  await using mode = await userspace({ forwarderHungMs: 1000 }).start([web()]);
  const pid = await mode.pid();
  assert.ok(pid);
  process.kill(pid, 'SIGSTOP');
  assertAllServed(await network.client.ask(PATIENTLY));
  assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
  await until('the forwarder', async () => (await mode.serves()) === 'forwarder');
  assert.deepEqual(
    mode.drifts.filter((what) => what.includes('for a while')),
    [],
    'the next one has always answered',
  );
});

test('falls back to nftables without the program of the forwarder, and says so', async () => {
  await using mode = await userspace({ forwarderProgram: '/nowhere/forwarder.mjs' }).start([web()]);
  assertAllServed(await network.client.ask({ ...TO_WEB, count: 5 }));
  assert.match(mode.warnings.join(), /falling back to nftables: .*FORWARDER_MISSING/);
  const attached = await mode.plane.attachments?.();
  assert.deepEqual(
    attached?.filter(({ isAttached }) => !isAttached).map(({ name }) => name),
    ['process', 'listeners IPv4'],
  );
});

test('starts a forwarder that ends at once ever more rarely', async () => {
  const program = join(folder.path, 'ends.mjs');
  const starts = join(folder.path, 'starts');
  writeFileSync(starts, '');
  writeFileSync(
    program,
    `import { appendFileSync } from 'node:fs'; appendFileSync('${starts}', 'x'); process.exit(3);`,
  );
  await using _ = await userspace({ forwarderProgram: program }).start([web()]);
  await delay(5000);
  assertAllServed(await network.client.ask({ ...TO_WEB, count: 5 }));
  const count = run(['cat', starts]).length;
  assert.ok(count >= 2 && count <= 4, `${count} starts in 5 s`);
});

test('switches between modes under connections without a failure', async () => {
  const around = { ebpf: ebpfSettings(network), runFolder: folder.path };
  const asked: Answer[] = [];
  const held = [];
  await bring(NFTABLES.open(around), [web()]);
  for (const mode of [NFTABLES, 'userspace', TC_EBPF, 'userspace', NFTABLES] as const) {
    const stop = keepAsking();
    const whole = mode === 'userspace' ? await userspace(around).start([web()]) : undefined;
    if (mode !== 'userspace') await bring(mode.open(around), [web()]);
    const own = mode === 'userspace' ? ['forwarder', 'nftables'] : mode.parts.map(nameOf);
    for (const part of ALL_PARTS) {
      if (!own.includes(part.name)) await part.open(around).remove();
    }
    const connection = await network.client.hold(TO_WEB);
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
  await using mode = await userspace().start([web()]);
  const pid = await mode.pid();
  assert.ok(pid);
  const held = await network.client.hold(TO_WEB);
  assert.match((await held.speak()).by, /^e\d$/);
  await mode.end();
  await cleanUp();
  assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
  assert.deepEqual(
    readdirSync(folder.path).filter((name) => name.endsWith('.sock')),
    [],
  );
  assert.doesNotMatch(run(['nft', 'list', 'tables']), /fairlead/);
  assert.doesNotMatch(run(['ip', 'rule']) + run(['ip', '-6', 'rule']), /118/);
  assert.doesNotMatch(run(['ip', 'route', 'show', 'table', 'all', 'proto', '119']), /./);
  assert.doesNotMatch(run(['ip', '-6', 'route', 'show', 'table', 'all', 'proto', '119']), /./);
});

test('lists its connections as flows, and ends exactly one', async () => {
  await using _ = await userspace().start([web()]);
  const [first, second] = [await network.client.hold(TO_WEB), await network.client.hold(TO_WEB)];
  const { by, sawPort } = await first.speak();
  await second.speak();
  const flows = new ForwarderFlows(folder.path);
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

test('an attempt goes on to another endpoint at once when its own is removed', async () => {
  const [dead, alive] = ['10.244.1.99', network.endpoints[0]?.ipv4 ?? ''];
  // Packets to it get no answer, not even that there is no such host.
  run(['ip', 'route', 'add', 'blackhole', '10.244.1.99/32', 'table', '99']);
  run(['nft', 'add table ip lost']);
  run(['nft', 'add chain ip lost out { type filter hook output priority 0; }']);
  run(['nft', 'add rule ip lost out ip daddr 10.244.1.99 drop']);
  try {
    await using mode = await userspace().start([web([dead])]);
    const begunMs = performance.now();
    const asked = network.client.ask(TO_WEB);
    await delay(500);
    await mode.plane.apply([changeOf(web([dead]), web([alive]))]);
    assertAllServed(await asked);
    assert.ok(performance.now() - begunMs < 2000);
  } finally {
    run(['nft', 'delete table ip lost']);
  }
});

test('keeps the client out of a frontend that forwards nothing, in the kernel', async () => {
  await using mode = await userspace().start([web([])]);
  const [answer] = await network.client.ask({ ...TO_WEB, timeoutMs: 1000 });
  assert.notEqual(answer?.by, '');
  assert.deepEqual(await mode.plane.diff({ facts: NODE_FACTS, rows: [web([])] }), []);
});
