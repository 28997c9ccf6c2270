import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { run } from '../../../../linux/netlink/testing/own-namespace.ts';
import { closeDescriptor } from '../../../../linux/sockets/descriptors.ts';
import { connectDescriptors } from '../../../../linux/userspace/pass-descriptors.ts';
import type { Answers, HeldListener, Request, WireRow } from '../forwarder-protocol.ts';
import { closeListeners, copyListeners, openListeners } from '../listeners.ts';
import { rowDigest } from '../row-digest.ts';
import { currentSockets } from '../run-files.ts';
import type { RunningForwarder } from '../running.ts';
import { startForwarder } from '../start.ts';
import { testFrontend, testRow } from './testing/directories.ts';
import {
  echoServer,
  enterForwarderNetwork,
  handOver,
  SERVICE,
  TestClient,
} from './testing/forwarder-network.ts';

const PROGRAM = fileURLToPath(new URL('../../forwarder.ts', import.meta.url));
const DEADLINE_MS = 10_000;
const ENDPOINTS = ['10.0.0.1', '10.0.0.2', '10.0.0.3'];
const ROW: WireRow = testRow('web', {
  frontends: [testFrontend(SERVICE, 80)],
  cluster: ENDPOINTS.map((address) => `${address} 8080`),
});
const STICKY: WireRow = testRow('sticky', {
  affinitySeconds: 600,
  frontends: [testFrontend(SERVICE, 81)],
  cluster: ENDPOINTS.map((address) => `${address} 8080`),
});

describe('the forwarder process', () => {
  let runFolder = '';
  let listeners: HeldListener[] = [];
  const running: number[] = [];

  before(async () => {
    enterForwarderNetwork();
    for (const address of ENDPOINTS) await echoServer(address);
  });
  beforeEach(async () => {
    runFolder = await mkdtemp(join(tmpdir(), 'fairlead-forwarder-'));
    listeners = openListeners();
  });
  after(() => {
    for (const pid of running) if (existsSync(`/proc/${pid}`)) process.kill(pid, 'SIGKILL');
    // The servers of the endpoints keep the process running.
    setImmediate(() => process.exit());
  });

  async function started(rows: readonly WireRow[] = [ROW, STICKY]): Promise<RunningForwarder> {
    const start = { runFolder, build: 'test', threadCount: 2, returnMark: 0x2000 };
    const forwarder = await startForwarder(PROGRAM, { ...start, listeners });
    running.push(pidOf(forwarder));
    await ask(forwarder, { do: 'apply', changes: rows.map((set) => ({ set })) });
    return forwarder;
  }

  async function current(rows?: readonly WireRow[]): Promise<RunningForwarder> {
    const forwarder = await started(rows);
    await ask(forwarder, { do: 'take-over', from: '' });
    handOver(forwarder.hello.ports.IPv4.host);
    return forwarder;
  }

  async function ask<Asked extends Request['do']>(
    { work }: RunningForwarder,
    request: Extract<Request, { do: Asked }>,
  ): Promise<Answers[Asked]> {
    return await work.ask<Asked>(request, DEADLINE_MS);
  }

  async function ended(forwarder: RunningForwarder): Promise<void> {
    const endsAtMs = performance.now() + DEADLINE_MS;
    while (existsSync(`/proc/${pidOf(forwarder)}`)) {
      assert.ok(performance.now() < endsAtMs, 'it did not end');
      await delay(20);
    }
  }

  async function finish(forwarder: RunningForwarder): Promise<void> {
    await ask(forwarder, { do: 'drain', deadlineMs: 0, final: true });
    await ended(forwarder);
    closeListeners(listeners);
    await rm(runFolder, { recursive: true });
  }

  it('forwards to a row, and counts exactly', async () => {
    const forwarder = await current();
    const clients = Array.from({ length: 20 }, () => new TestClient());
    for (const client of clients) {
      assert.ok(ENDPOINTS.includes(await client.endpoint()));
      await client.echo('twenty bytes of text');
    }
    const { endpoints, failed } = await ask(forwarder, { do: 'counts' });
    const sum = (countOf: (count: (typeof endpoints)[number]) => number) =>
      endpoints.reduce((total, count) => total + countOf(count), 0);
    assert.equal(
      sum(({ connections }) => connections),
      20,
    );
    assert.equal(
      sum(({ open }) => open),
      20,
    );
    assert.equal(
      sum(({ bytesToEndpoint }) => bytesToEndpoint),
      20 * 20,
    );
    assert.equal(
      sum(({ bytesToClient }) => bytesToClient),
      20 * (20 + '10.0.0.1\n'.length),
    );
    assert.equal(failed, 0);
    const pulse = await ask(forwarder, { do: 'pulse' });
    assert.deepEqual([pulse.openConnections, pulse.accepts, pulse.isDraining], [20, true, false]);
    for (const client of clients) client.close();
    await finish(forwarder);
  });

  it('serves connections that came before their row, and resets those that have none', async () => {
    const forwarder = await current();
    const early = new TestClient(90);
    await delay(100);
    const row = testRow('late', { frontends: [testFrontend(SERVICE, 90)], cluster: ROW.cluster });
    await ask(forwarder, { do: 'apply', changes: [{ set: row }] });
    assert.ok(ENDPOINTS.includes(await early.endpoint()));
    early.close();
    await new TestClient(91).ended();
    const { unknownFrontend } = await ask(forwarder, { do: 'totals' });
    assert.equal(unknownFrontend, 1);
    await finish(forwarder);
  });

  it('lists connections in their order, and ends exactly those that it is told', async () => {
    const forwarder = await current();
    const clients = [];
    for (let count = 0; count < 5; count++) {
      const client = new TestClient();
      await client.endpoint();
      clients.push(client);
    }
    const { first, count } = await ask(forwarder, { do: 'connections', most: 3 });
    assert.equal(count, 5);
    assert.deepEqual(
      first.map(({ state, row }) => [state, row]),
      Array(3).fill(['open', ROW.key]),
    );
    assert.deepEqual(
      first.map(({ ageMs }) => ageMs),
      first.map(({ ageMs }) => ageMs).toSorted((a, b) => b - a),
    );
    const [oldest] = first;
    assert.ok(oldest);
    assert.equal(oldest.frontend, `${SERVICE} 80`);
    assert.ok(ROW.cluster.includes(oldest.endpoint));
    const end = await ask(forwarder, { do: 'end', connections: [oldest] });
    assert.equal(end.ended, 1);
    await clients[0]?.ended();
    for (const client of clients.slice(1)) await client.echo('still there');
    for (const client of clients) client.close();
    await finish(forwarder);
  });

  it('hands connections, clients and counts over to the next one', async () => {
    const old = await current();
    const clients = Array.from(
      { length: 120 },
      (_, index) => new TestClient(index < 100 ? 80 : 81),
    );
    const before = await Promise.all(clients.map((client) => client.endpoint()));
    assert.equal(new Set(before.slice(100)).size, 1, 'sticky');
    const next = await started();
    const { handover } = currentSockets(runFolder);
    const taken = await ask(next, { do: 'take-over', from: handover });
    assert.equal(taken.pairs, 120);
    assert.equal(taken.affinities, 1);
    await Promise.all(clients.map((client, index) => client.echo(`text ${index}`)));
    const { openConnections } = await ask(next, { do: 'pulse' });
    assert.equal(openConnections, 120);
    const totals = await ask(next, { do: 'totals' });
    assert.equal(totals.connections, 120);
    assert.equal(totals.open, 120);
    await ended(old);
    const another = new TestClient(81);
    assert.equal(await another.endpoint(), before[100], 'affinity was handed over');
    assert.deepEqual((await readdir(runFolder)).sort(), [
      'forwarder-handover.sock',
      'forwarder.sock',
    ]);
    const copies = await copyListeners(handover, DEADLINE_MS);
    assert.equal(copies.length, listeners.length);
    closeListeners(copies);
    for (const client of [...clients, another]) client.close();
    await finish(next);
  });

  it('keeps what cannot move until its end, and hands its counts over then', async () => {
    const { server, socket: accepted } = unreadServer();
    await once(server.listen(9_090, '10.0.0.1'), 'listening');
    const frontends = [testFrontend(SERVICE, 82)];
    const rows = [ROW, testRow('unread', { frontends, cluster: ['10.0.0.1 9090'] })];
    const forwarders = [await current(rows)];
    const sent = Buffer.alloc(32 * 1024 * 1024);
    const client = createConnection({ host: SERVICE, port: 82 });
    client.end(sent);
    const reader = await accepted;
    await stalled(() => client.bytesWritten - client.writableLength);
    for (let replaced = 0; replaced < 2; replaced++) {
      const next = await started(rows);
      const { handover } = currentSockets(runFolder);
      assert.equal((await ask(next, { do: 'take-over', from: handover })).pairs, 0);
      forwarders.push(next);
    }
    let receivedBytes = 0;
    for await (const chunk of reader) receivedBytes += (chunk as Buffer).length;
    assert.equal(receivedBytes, sent.length);
    const [first, second, third] = forwarders as [
      RunningForwarder,
      RunningForwarder,
      RunningForwarder,
    ];
    await ended(first);
    await ended(second);
    const { bytesToEndpoint, connections } = await ask(third, { do: 'totals' });
    assert.deepEqual([bytesToEndpoint, connections], [sent.length, 1]);
    client.destroy();
    server.close();
    await finish(third);
  });

  it('hands over while it drains, and leaves the rule that the next one needs', async () => {
    const old = await current();
    const clients = Array.from({ length: 5 }, () => new TestClient());
    for (const client of clients) await client.endpoint();
    await ask(old, { do: 'drain', deadlineMs: DEADLINE_MS, final: true });
    const next = await started();
    const { handover } = currentSockets(runFolder);
    assert.equal((await ask(next, { do: 'take-over', from: handover })).pairs, 5);
    await ended(old);
    assert.match(run(['ip', 'rule', 'list']), /fwmark 0x2000/, 'the next one needs the rule');
    for (const client of clients) {
      await client.echo('still there');
      client.close();
    }
    await finish(next);
    assert.doesNotMatch(run(['ip', 'rule', 'list']), /fwmark 0x2000/);
  });

  it('takes 20,000 rows while it answers', async (t) => {
    const forwarder = await current();
    const cpuAtStartMs = cpuMsOf(pidOf(forwarder));
    const slowest = { ms: 0, isOver: false };
    const pulses = (async () => {
      while (!slowest.isOver) {
        const askedAtMs = performance.now();
        await forwarder.pulse.ask<'pulse'>({ do: 'pulse' }, DEADLINE_MS);
        slowest.ms = Math.max(slowest.ms, performance.now() - askedAtMs);
        await delay(10);
      }
    })();
    const startedAtMs = performance.now();
    for (let first = 0; first < MANY_ROWS; first += ROWS_PER_APPLY) {
      const changes = Array.from({ length: ROWS_PER_APPLY }, (_, at) => ({
        set: manyRow(first + at),
      }));
      await ask(forwarder, { do: 'apply', changes });
    }
    const tookMs = performance.now() - startedAtMs;
    slowest.isOver = true;
    await pulses;
    const cpuMs = cpuMsOf(pidOf(forwarder)) - cpuAtStartMs;
    const residentMb = residentMbOf(pidOf(forwarder));
    t.diagnostic(
      `${MANY_ROWS} rows of 10 endpoints: ${Math.round(tookMs)} ms, ${cpuMs} ms of CPU, ` +
        `${residentMb} MB, slowest pulse ${Math.round(slowest.ms)} ms`,
    );
    const digests = new Map(await ask(forwarder, { do: 'digests' }));
    assert.equal(digests.size, MANY_ROWS + 2);
    const sample = manyRow(MANY_ROWS - 1);
    assert.equal(digests.get(sample.key), rowDigest(sample));
    const client = new TestClient();
    await client.endpoint();
    client.close();
    // Twice of what an idle machine needs.
    assert.ok(cpuMs < 3_000, `${cpuMs} ms of CPU`);
    assert.ok(residentMb < 400, `${residentMb} MB`);
    await finish(forwarder);
  });

  it('goes on with its connections when the next one ends before it has taken them', async () => {
    const forwarder = await current();
    const clients = Array.from({ length: 10 }, () => new TestClient());
    for (const client of clients) await client.endpoint();
    const wait = { timeoutMs: DEADLINE_MS };
    const { handover } = currentSockets(runFolder);
    const giveUpAtMs = performance.now() + DEADLINE_MS;
    // It gives to one at a time, and rejects the second until the first is known to have failed.
    for (let failedCount = 0; failedCount < 2; ) {
      assert.ok(performance.now() < giveUpAtMs);
      using socket = await connectDescriptors(handover, wait);
      await socket.send({ payload: Buffer.from(JSON.stringify({ ask: 'pairs' })), fds: [] }, wait);
      const parcel = await socket.receive(wait);
      if (parcel === undefined) continue;
      assert.equal(parcel.fds.length, 20);
      for (const fd of parcel.fds) closeDescriptor(fd);
      failedCount++;
    }
    for (const client of clients) await client.echo('still there');
    await new TestClient().endpoint();
    const { isDraining } = await ask(forwarder, { do: 'pulse' });
    assert.equal(isDraining, false);
    for (const client of clients) client.close();
    await finish(forwarder);
  });

  it('drains: no new connections, the open ones until their end or the deadline', async () => {
    const forwarder = await current();
    const [short, long] = [new TestClient(), new TestClient()];
    await short.endpoint();
    await long.endpoint();
    const startedAtMs = performance.now();
    const drain = { do: 'drain', deadlineMs: 1_500, final: false } as const;
    await ask(forwarder, drain);
    const pulse = await ask(forwarder, { do: 'pulse' });
    assert.deepEqual([pulse.accepts, pulse.isDraining], [false, true]);
    await short.echo('still there');
    short.close();
    await long.ended();
    assert.ok(performance.now() - startedAtMs >= 1_500);
    await ended(forwarder);
    assert.deepEqual(await readdir(runFolder), [], 'its socket files are gone');
  });

  it('ends at SIGTERM when its last connection has ended', async () => {
    const forwarder = await current();
    const client = new TestClient();
    await client.endpoint();
    process.kill(pidOf(forwarder), 'SIGTERM');
    await delay(300);
    await client.echo('still there');
    client.close();
    await ended(forwarder);
  });

  it('leaves nothing behind at SIGKILL that the next one stumbles over', async () => {
    const killed = await current();
    const client = new TestClient();
    await client.endpoint();
    process.kill(pidOf(killed), 'SIGKILL');
    await client.ended();
    const waiting = new TestClient();
    const next = await started();
    await ask(next, { do: 'take-over', from: '' });
    assert.ok(ENDPOINTS.includes(await waiting.endpoint()), 'the queue outlives the process');
    assert.deepEqual((await readdir(runFolder)).sort(), [
      'forwarder-handover.sock',
      'forwarder.sock',
    ]);
    waiting.close();
    await finish(next);
  });
});

/** Reads nothing by itself. */
function unreadServer(): { server: Server; socket: Promise<Socket> } {
  const { promise, resolve } = Promise.withResolvers<Socket>();
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    socket.on('error', () => undefined);
    resolve(socket);
  });
  return { server, socket: promise };
}

/** Until the value has stayed the same for a while. */
async function stalled(value: () => number): Promise<void> {
  const giveUpAtMs = performance.now() + DEADLINE_MS;
  for (let before = -1; before !== value(); ) {
    assert.ok(performance.now() < giveUpAtMs, 'it goes on');
    before = value();
    await delay(300);
  }
}

const MANY_ROWS = 20_000;
const ROWS_PER_APPLY = 500;

function manyRow(index: number): WireRow {
  const last = `${index >> 8}.${index & 255}`;
  return testRow(`many-${index}`, {
    frontends: [testFrontend(`10.96.${last}`, 1_000), testFrontend('', 2_000 + index)],
    cluster: Array.from({ length: 10 }, (_, at) => `10.1${at}.${last} 8080`),
  });
}

/** User and system time of all threads. */
function cpuMsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * MS_PER_CLOCK_TICK;
}

const MS_PER_CLOCK_TICK = 10;

function residentMbOf(pid: number): number {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Math.round(Number(kilobytes) / 1024);
}

function pidOf({ pid }: RunningForwarder): number {
  assert.ok(pid !== undefined && pid > 0);
  return pid;
}
