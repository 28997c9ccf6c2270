import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { run } from '../../../src/linux/netlink/testing/own-namespace.ts';
import { until } from '../../../src/time/testing/until.ts';
import { assertAllServed, changeOf, PATIENTLY, TO_WEB, UserspaceSite } from './userspace-site.ts';

const site = UserspaceSite.forTests();

test('replaces a forwarder of another build, and its connections go on', async () => {
  await using first = await site.userspace({ userspace: { threads: 1 } }).start([site.web()]);
  const held = await site.network.client.hold(TO_WEB);
  const { by } = await held.speak();
  const pid = await first.pid();
  const stop = site.keepAsking();
  await first.end();
  await using second = await site.userspace({ userspace: { threads: 2 } }).start([site.web()]);
  assert.notEqual(await second.pid(), pid);
  assert.equal((await held.speak()).by, by);
  assert.equal((await second.report())?.handedOver, 1);
  assertAllServed(await stop());
});

test('a forwarder that is told to end by another process is replaced, with its connections', async () => {
  await using mode = await site.userspace().start([site.web()]);
  const held = await site.network.client.hold(TO_WEB);
  const { by } = await held.speak();
  const pid = await mode.pid();
  assert.ok(pid);
  const stop = site.keepAsking();
  process.kill(pid, 'SIGTERM');
  await until('another forwarder', async () => {
    const now = await mode.pid();
    return now !== undefined && now !== pid && (await mode.serves()) === 'forwarder';
  });
  assert.equal((await held.speak()).by, by);
  assert.equal((await mode.report())?.handedOver, 1);
  assertAllServed(await stop());
});

test('a forwarder that hangs gets no more connections within 3 s, and more when it answers', async () => {
  await using mode = await site.userspace().start([site.web()]);
  const held = await site.network.client.hold(TO_WEB);
  const { by } = await held.speak();
  const pid = await mode.pid();
  assert.ok(pid);
  process.kill(pid, 'SIGSTOP');
  const stoppedMs = performance.now();
  await until('the kernel', async () => (await mode.serves()) === 'kernel');
  assert.ok(performance.now() - stoppedMs < 3500);
  assertAllServed(await site.network.client.ask({ ...TO_WEB, count: 20 }));
  // A change while it hangs must reach it before the next connection does.
  const [only] = site.network.endpoints;
  const after = site.web([only?.ipv4 ?? '']);
  await mode.plane.apply([changeOf(site.web(), after)]);
  mode.rows = [after];
  process.kill(pid, 'SIGCONT');
  await until('the forwarder', async () => (await mode.serves()) === 'forwarder');
  assert.equal(await mode.pid(), pid);
  assert.equal((await held.speak()).by, by);
  const answers = await site.network.client.ask({ ...TO_WEB, count: 10 });
  assert.deepEqual(new Set(answers.map((answer) => answer.by)), new Set([only?.name]));
});

test('a forwarder that hangs for long is killed, and the next one accepts what waited', async () => {
  await using mode = await site.userspace({ forwarderHungMs: 1000 }).start([site.web()]);
  const pid = await mode.pid();
  assert.ok(pid);
  process.kill(pid, 'SIGSTOP');
  assertAllServed(await site.network.client.ask(PATIENTLY));
  assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
  await until('the forwarder', async () => (await mode.serves()) === 'forwarder');
  assert.deepEqual(
    mode.drifts.filter((what) => what.includes('for a while')),
    [],
    'the next one has always answered',
  );
});

test('starts a forwarder that ends at once ever more rarely', async () => {
  const program = join(site.folder.path, 'ends.mjs');
  const starts = join(site.folder.path, 'starts');
  writeFileSync(starts, '');
  writeFileSync(
    program,
    `import { appendFileSync } from 'node:fs'; appendFileSync('${starts}', 'x'); process.exit(3);`,
  );
  await using _ = await site.userspace({ forwarderProgram: program }).start([site.web()]);
  await delay(5000);
  assertAllServed(await site.network.client.ask({ ...TO_WEB, count: 5 }));
  const count = run(['cat', starts]).length;
  assert.ok(count >= 2 && count <= 4, `${count} starts in 5 s`);
});

test('an attempt goes on to another endpoint at once when its own is removed', async () => {
  const [dead, alive] = ['10.244.1.99', site.network.endpoints[0]?.ipv4 ?? ''];
  // Packets to it get no answer, not even that there is no such host.
  run(['ip', 'route', 'add', 'blackhole', '10.244.1.99/32', 'table', '99']);
  run(['nft', 'add table ip lost']);
  run(['nft', 'add chain ip lost out { type filter hook output priority 0; }']);
  run(['nft', 'add rule ip lost out ip daddr 10.244.1.99 drop']);
  try {
    await using mode = await site.userspace().start([site.web([dead])]);
    const begunMs = performance.now();
    const asked = site.network.client.ask(TO_WEB);
    await delay(500);
    await mode.plane.apply([changeOf(site.web([dead]), site.web([alive]))]);
    assertAllServed(await asked);
    assert.ok(performance.now() - begunMs < 2000);
  } finally {
    run(['nft', 'delete table ip lost']);
  }
});
