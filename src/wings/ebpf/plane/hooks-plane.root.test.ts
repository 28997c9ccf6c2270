import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Drift } from '../../../dataplanes/contract.ts';
import { change } from '../../../dataplanes/shared/testing/plane-change.ts';
import { type Forwarding, servicePortKey } from '../../../forwarding/model.ts';
import { addressText } from '../../../linux/conntrack/address-bytes.ts';
import type { Flow } from '../../../linux/conntrack/flow.ts';
import { AttachType } from '../../../linux/ebpf/bpf-constants.ts';
import { openPinnedLink } from '../../../linux/ebpf/bpf-link.ts';
import { programsOnCgroup } from '../../../linux/ebpf/enumerate.ts';
import { openPinnedMap } from '../../../linux/ebpf/map-create.ts';
import type { HooksPlane } from './hooks-plane.ts';
import { frontendKeyOf } from './maps/map-row.ts';
import { SocketFlows } from './socket-flows.ts';
import { testPlace } from './testing/ebpf-place.ts';
import { clusterIp, FACTS, rowOf } from './testing/ebpf-rows.ts';

const place = testPlace('hooks');
const servers: Server[] = [];
const ADDRESSES = ['127.0.0.11', '127.0.0.12', '127.0.0.13'];
const ENDPOINTS = ADDRESSES.map((address) => `${address}:8080`);

before(async () => {
  for (const address of ADDRESSES) {
    const server = createServer((socket) => socket.end(address)).listen(8080, address);
    await once(server, 'listening');
    servers.push(server);
  }
});

after(() => {
  for (const server of servers) server.close();
  place.leave();
});

/** The server that answers and the peer that the program sees, `count` times. */
async function ask(address: string, count = 1): Promise<{ by: string[]; peers: string[] }> {
  const printed = await place.inGroup(`
    const net = require('net'), by = [], peers = [];
    const one = () => new Promise((done) => {
      const socket = net.connect(80, '${address}');
      socket.on('connect', () => peers.push(socket.remoteAddress + ':' + socket.remotePort));
      socket.on('data', (text) => by.push(String(text)));
      socket.on('error', (error) => by.push(error.code));
      socket.on('close', done);
    });
    (async () => {
      for (let i = 0; i < ${count}; i++) await one();
      console.log(JSON.stringify({ by, peers }));
    })();`);
  return JSON.parse(printed) as { by: string[]; peers: string[] };
}

/** From any state to these rows; returns how much the inspection wrote. */
async function bring(plane: HooksPlane, rows: readonly Forwarding[]): Promise<number> {
  const { right, writeCount } = await plane.inspect({ facts: FACTS, rows }, 'everything');
  const wrong = rows.filter(({ id }) => !right.has(servicePortKey(id)));
  await plane.apply(wrong.map((row) => change('unknown', row)));
  return writeCount + wrong.length;
}

const WEB = rowOf('web', { frontends: [clusterIp('10.96.0.1')], endpoints: ENDPOINTS });
const ONE = rowOf('web', {
  frontends: [clusterIp('10.96.0.1')],
  endpoints: ENDPOINTS.slice(0, 1),
});

test('rejects changes before the first inspection', async () => {
  await assert.rejects(place.newPlane().apply([]), { code: 'BPF_NOT_INSPECTED' });
});

test('removes what it found of an unknown row when the row is removed', async () => {
  const plane = place.newPlane();
  await bring(plane, [WEB]);
  await plane.inspect({ facts: FACTS, rows: [ONE] }, 'everything');
  await plane.apply([{ ...change('unknown', ONE), after: undefined }]);
  assert.deepEqual(await plane.diff({ facts: FACTS, rows: [] }), []);
  assert.deepEqual(await plane.frontends(), []);
});

test('connects a socket to every endpoint, and shows it the address that it requested', async () => {
  const plane = place.newPlane();
  await bring(plane, [WEB]);
  const { by, peers } = await ask('10.96.0.1', 60);
  assert.deepEqual([...new Set(by)].sort(), ADDRESSES);
  assert.deepEqual([...new Set(peers)], ['10.96.0.1:80']);
  const counts = await plane.counters();
  assert.equal(
    counts.reduce((sum, { connections }) => sum + connections, 0),
    60,
  );
  await plane.apply([change(WEB, ONE)]);
  assert.deepEqual([...new Set((await ask('10.96.0.1', 20)).by)], ADDRESSES.slice(0, 1));
  const [left] = await plane.counters();
  assert.equal(
    left?.connections,
    (counts.find((c) => c.endpoint === left?.endpoint)?.connections ?? 0) + 20,
  );
});

test('finds everything right after a restart, writes nothing, and continues', async () => {
  const plane = place.newPlane();
  assert.equal(await bring(plane, [ONE]), 0);
  assert.deepEqual(await place.newPlane().diff({ facts: FACTS, rows: [ONE] }), []);
  await plane.apply([change(ONE, WEB)]);
  assert.deepEqual([...new Set((await ask('10.96.0.1', 60)).by)].sort(), ADDRESSES);
});

test('leaves a socket untranslated at an address of the node while the node has it', async () => {
  const plane = place.newPlane();
  const frontends = [clusterIp('127.0.0.99')];
  await bring(plane, [rowOf('cache', { frontends, endpoints: ENDPOINTS })]);
  const own = { ...FACTS, ownAddresses: ['127.0.0.99'] };
  const by = async () => [...new Set((await ask('127.0.0.99', 10)).by)].sort().join();
  await plane.configure(own);
  assert.equal(await by(), 'ECONNREFUSED');
  await plane.configure(FACTS);
  assert.equal((await by()).includes('ECONNREFUSED'), false);
});

test('has no entries for a row that is left to packets', async () => {
  const plane = place.newPlane();
  const web = rowOf('web', { frontends: [clusterIp('127.0.0.98')], endpoints: ENDPOINTS });
  const left: Forwarding = { ...web, onlyPackets: true };
  await bring(plane, [web]);
  assert.equal((await plane.frontends()).length, 1);
  await plane.apply([change(web, left)]);
  assert.deepEqual(await plane.frontends(), []);
  assert.deepEqual((await ask('127.0.0.98')).by, ['ECONNREFUSED']);
  assert.deepEqual(await plane.diff({ facts: FACTS, rows: [left] }), []);
  assert.equal(await bring(place.newPlane(), [left]), 0);
  await plane.apply([change(left, web)]);
  assert.deepEqual(await plane.diff({ facts: FACTS, rows: [web] }), []);
  assert.notDeepEqual((await ask('127.0.0.98')).by, ['ECONNREFUSED']);
});

test('keeps a client with affinity at its endpoint until that is removed', async () => {
  const plane = place.newPlane();
  const of = { frontends: [clusterIp('10.96.0.2')], affinitySeconds: 60 };
  const sticky = rowOf('sticky', { ...of, endpoints: ENDPOINTS });
  await bring(plane, [WEB, sticky]);
  const stayed = [...new Set((await ask('10.96.0.2', 20)).by)];
  assert.equal(stayed.length, 1);
  const others = ENDPOINTS.filter((text) => !text.startsWith(`${stayed[0]}:`));
  await plane.apply([change(sticky, rowOf('sticky', { ...of, endpoints: others }))]);
  const moved = [...new Set((await ask('10.96.0.2', 20)).by)];
  assert.equal(moved.length, 1);
  assert.notDeepEqual(moved, stayed);
});

test('lists a connected UDP socket as a flow, and ends it', async () => {
  const plane = place.newPlane();
  const dns = rowOf('dns', {
    protocol: 'UDP',
    frontends: [clusterIp('10.96.0.53', { port: 53 })],
    endpoints: ['127.0.0.11:5353'],
  });
  await bring(plane, [WEB, dns]);
  const problems: unknown[] = [];
  const flows = new SocketFlows({
    readObject: () => place.object,
    pinFolder: join(place.pins, 'fairlead'),
    namespaces: () => ['/proc/thread-self/ns/net'],
    onProblem: (error) => problems.push(error),
  });
  const told = place.inGroup(`
    const socket = require('dgram').createSocket('udp4');
    socket.on('error', (error) => { console.log(error.code); socket.close(); });
    socket.connect(53, '10.96.0.53');`);
  const question = { protocols: new Set([17]), destinationPorts: new Set([53]) };
  const signal = AbortSignal.timeout(20_000);
  let found: Flow[] = [];
  while (found.length === 0) found = (await Array.fromAsync(flows.flows(question, signal))).flat();
  assert.deepEqual(problems, []);
  const [flow] = found;
  assert.equal(addressText(flow?.original.destination ?? ''), '10.96.0.53');
  assert.equal(addressText(flow?.reply.source ?? ''), '127.0.0.11');
  assert.deepEqual([flow?.original.destinationPort, flow?.reply.sourcePort], [53, 5353]);
  assert.deepEqual(await flows.remove(found), found);
  assert.equal(await told, 'ECONNABORTED');
});

test('deletes what belongs to no row, and repairs what other processes changed', async () => {
  const plane = place.newPlane();
  await bring(plane, [WEB]);
  deleteFrontend('10.96.0.1');
  const differences = await place.newPlane().diff({ facts: FACTS, rows: [WEB] });
  assert.ok(differences.some(({ object }) => object === 'ebpf frontends { 10.96.0.1 tcp 80 }'));
  await bring(plane, [WEB]);
  assert.deepEqual(await plane.diff({ facts: FACTS, rows: [WEB] }), []);
  assert.equal((await plane.diff({ facts: FACTS, rows: [] }))[0]?.kind, 'foreign');
});

/** As another process would that has found the pins. */
function deleteFrontend(address: string): void {
  const map = openPinnedMap(join(place.pins, 'fairlead/maps/frontends'));
  assert.ok(map.delete(frontendKeyOf(WEB, clusterIp(address))));
  map.close();
}

test('reports and repairs a detached hook and a changed map', async () => {
  const plane = place.newPlane();
  const desired = { facts: FACTS, rows: [WEB] };
  await bring(plane, [WEB]);
  const stop = new AbortController();
  const drifts: Drift[] = [];
  const watching = plane.watch((drift) => drifts.push(drift), stop.signal);
  try {
    const link = openPinnedLink(join(place.pins, 'fairlead/links/connect4'));
    link.detach();
    link.close();
    await until(() => drifts.some(({ what }) => what.includes('connect4')));
    const { differences } = await plane.inspect(desired, 'reported');
    assert.deepEqual(differences, [{ kind: 'missing', object: 'ebpf hook connect4' }]);
    assert.equal((await ask('10.96.0.1')).peers[0], '10.96.0.1:80');
    deleteFrontend('10.96.0.1');
    await until(() => drifts.some(({ what }) => what.includes('frontends')));
    const found = await plane.inspect(desired, 'reported');
    assert.equal(found.right.size, 0);
  } finally {
    stop.abort();
    await watching;
  }
});

async function until(holds: () => boolean): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (!holds()) {
    assert.ok(performance.now() < deadline, 'in time');
    await delay(20);
  }
}

test('grows the maps when they are full, and loses nothing', async () => {
  const plane = place.newPlane();
  await bring(plane, [WEB]);
  const many = Array.from({ length: 30_000 }, (_, n) =>
    rowOf(`s${n}`, {
      frontends: [clusterIp(`10.97.${(n >> 8) & 255}.${n & 255}`)],
      endpoints: ENDPOINTS,
    }),
  );
  await plane.apply(many.map((row) => change('absent', row)));
  const last = many.at(-1)?.frontends[0]?.address ?? '';
  assert.ok(ADDRESSES.includes((await ask(last)).by[0] ?? ''));
  assert.ok(ADDRESSES.includes((await ask('10.96.0.1')).by[0] ?? ''));
  assert.equal(await bring(place.newPlane(), [WEB, ...many]), 0);
});

test('leaves nothing behind', async () => {
  const plane = place.newPlane();
  assert.ok((await plane.frontends()).length > 0);
  const held = (await plane.inventory()).map(({ what }) => what);
  assert.deepEqual(held, ['programs', 'maps']);
  await plane.remove();
  assert.deepEqual(await plane.inventory(), []);
  assert.equal(existsSync(join(place.pins, 'fairlead')), false);
  assert.deepEqual(await plane.frontends(), []);
  const hooks = [AttachType.cgroupConnect4, AttachType.cgroupGetpeername6];
  assert.deepEqual(
    hooks.flatMap((hook) => programsOnCgroup(place.cgroupFd, hook)),
    [],
  );
});
