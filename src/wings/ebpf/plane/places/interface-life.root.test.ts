import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, afterEach, before, test } from 'node:test';
import type { Drift } from '../../../../dataplanes/contract.ts';
import { attachTcx, openPinnedLink } from '../../../../linux/ebpf/bpf-link.ts';
import type { BpfProgram } from '../../../../linux/ebpf/bpf-program.ts';
import { openProgramById } from '../../../../linux/ebpf/enumerate.ts';
import type { LoadedObject } from '../../../../linux/ebpf/load-object.ts';
import { compiledProgram } from '../../../../linux/ebpf/testing/compiled-program.ts';
import { enterOwnNetwork, ip } from '../../../../linux/netlink/testing/own-namespace.ts';
import { listLinks } from '../../../../linux/route/watch-links.ts';
import type { HooksPlane } from '../hooks-plane.ts';
import { bring } from '../testing/bring.ts';
import { frontendAt, serviceOf } from '../testing/ebpf-service.ts';
import {
  indexOf,
  isAttached,
  linkAt,
  pinOf,
  programCount,
  untilSo,
  using,
} from '../testing/ingress-links.ts';
import { NODE_FACTS, type NodeNetwork, nodeNetwork } from '../testing/node-network.ts';
import { packetPlane, pinFolderOf, socketPlane } from '../testing/packet-plane.ts';
import { INGRESS, loadPrograms } from './programs.ts';

let network: NodeNetwork;
let plane: HooksPlane;
const DRIFTS: Drift[] = [];
let watch: { stop(): Promise<void> };
const ROWS = [
  serviceOf('web', { frontends: [frontendAt('10.96.0.1')], endpoints: ['10.244.2.10'] }),
];
/** It takes a quarter of a second; a crowded machine is given more. */
const TOLD_WITHIN_MS = 3000;

before(async () => {
  network = await nodeNetwork('interface-life');
  plane = packetPlane(network);
  await bring(plane, ROWS);
  watch = watched(plane);
});

afterEach(() => {
  DRIFTS.length = 0;
});

after(async () => {
  await watch.stop();
  await plane.remove();
  network.leave();
});

function watched(which: HooksPlane): { stop(): Promise<void> } {
  const stop = new AbortController();
  const ended = which.watch((drift) => DRIFTS.push(drift), stop.signal);
  return {
    stop: async () => {
      stop.abort();
      await ended;
    },
  };
}

test('attaches the program once to all interfaces but loopback', async () => {
  for (const { index, name, loopback } of await listLinks()) {
    assert.equal(programCount(index), loopback ? 0 : 1, name);
    assert.equal(linkAt(network.pins, index) !== undefined, !loopback, name);
  }
});

const NEW_ONES = 15;

test('attaches to a new interface, and leaves nothing of a removed one', async (t) => {
  const late: number[] = [];
  for (let round = 0; round < NEW_ONES; round++) {
    ip('link add name fresh type veth peer name fresh-end');
    const index = await indexOf('fresh');
    late.push(await untilSo('it is attached', () => programCount(index) === 1));
    const id = linkAt(network.pins, index)?.id ?? 0;
    assert.ok(isAttached(id));
    ip('link del fresh');
    await untilSo('the pin has gone', () => !existsSync(pinOf(network.pins, index)));
    assert.ok(!isAttached(id));
  }
  late.sort((a, b) => a - b);
  const [median = 0, most = 0] = [late[NEW_ONES >> 1], late.at(-1)];
  t.diagnostic(
    `a new interface is attached after ${median.toFixed()} ms, at most ${most.toFixed()}`,
  );
  assert.deepEqual(DRIFTS, [], 'nobody else did anything');
});

test('detaches from an interface that is moved into a pod', async () => {
  ip('link add name moved type veth peer name moved-end');
  const index = await indexOf('moved');
  await untilSo('it is attached', () => programCount(index) === 1);
  const id = linkAt(network.pins, index)?.id ?? 0;
  ip(`link set moved netns ${network.client.pid}`);
  await untilSo('the program is off', () => !isAttached(id));
  assert.ok(!existsSync(pinOf(network.pins, index)));
  ip('link del moved-end');
});

test('reports a program that another process detaches, and attaches it again', async (t) => {
  const index = await indexOf('eth0');
  using(openPinnedLink(pinOf(network.pins, index)), (link) => link.detach());
  assert.equal(programCount(index), 0);
  const toldMs = await untilSo('it is told', () => DRIFTS.length > 0, TOLD_WITHIN_MS);
  assert.match(DRIFTS[0]?.what ?? '', new RegExp(`ingress of interface ${index} was detached`));
  await plane.inspect({ facts: NODE_FACTS, rows: ROWS }, 'reported');
  assert.equal(programCount(index), 1);
  t.diagnostic(`told after ${toldMs.toFixed()} ms`);
});

test('reports a program that another process attaches instead of ours, and replaces it', async () => {
  const index = await indexOf('eth0');
  const { loaded, program } = otherProgram();
  using(openPinnedLink(pinOf(network.pins, index)), (link) => link.update(program));
  await untilSo('it is told', () => DRIFTS.length > 0, TOLD_WITHIN_MS);
  assert.match(DRIFTS[0]?.what ?? '', /runs another program/);
  await plane.inspect({ facts: NODE_FACTS, rows: ROWS }, 'reported');
  assert.notEqual(linkAt(network.pins, index)?.programId, program.id);
  loaded.close();
});

/** The same program on maps that no process writes. */
function otherProgram(): { loaded: LoadedObject; program: BpfProgram } {
  const objects = { sockets: compiledProgram('sock'), packets: compiledProgram('tc') };
  const loaded = loadPrograms(objects, { maps: new Map() });
  const program = loaded.programs.get(INGRESS);
  assert.ok(program);
  return { loaded, program };
}

test('finds and detaches a program that is attached beside ours', async () => {
  const index = await indexOf('eth0');
  const { loaded, program } = otherProgram();
  const link = attachTcx(program, { ifindex: index, direction: 'ingress' });
  assert.equal(programCount(index), 2);
  const { differences } = await plane.inspect({ facts: NODE_FACTS, rows: ROWS }, 'everything');
  assert.deepEqual(
    differences.map(({ object }) => object),
    [`ebpf ingress of interface ${index}, a second program attached beside that of Fairlead`],
  );
  assert.equal(programCount(index), 1);
  link.close();
  loaded.close();
});

test('writes nothing at a restart without changes', async () => {
  const again = packetPlane(network);
  const { writeCount, differences } = await bring(again, ROWS);
  assert.deepEqual(differences, []);
  assert.equal(writeCount, 0);
  assert.deepEqual(await packetPlane(network).diff({ facts: NODE_FACTS, rows: ROWS }), []);
});

test('attaches only to interfaces with configured names', async () => {
  await watch.stop();
  const some = packetPlane(network, { interfaces: ['eth*', 'pod-1'] });
  await bring(some, ROWS);
  const served = (await listLinks()).filter(({ index }) => programCount(index) > 0);
  assert.deepEqual(served.map(({ name }) => name).sort(), ['eth0', 'pod-1']);
  await bring(plane, ROWS);
  watch = watched(plane);
  assert.equal(programCount(await indexOf('pod-2')), 1);
});

test('detaches the program in another mode on the same pins, and attaches it again', async () => {
  await watch.stop();
  const sockets = socketPlane(network);
  const { differences } = await bring(sockets, ROWS);
  assert.ok(differences.some(({ object }) => object.includes('ingress of interface')));
  for (const { index } of await listLinks()) {
    assert.equal(programCount(index), 0);
    assert.equal(linkAt(network.pins, index), undefined);
  }
  assert.equal((await bring(socketPlane(network), ROWS)).writeCount, 0);
  plane = packetPlane(network);
  await bring(plane, ROWS);
  watch = watched(plane);
  assert.equal((await bring(packetPlane(network), ROWS)).writeCount, 0);
  for (const { index, loopback } of await listLinks()) {
    assert.equal(programCount(index), loopback ? 0 : 1);
  }
});

test('leaves another node on the same kernel unchanged, with interfaces of the same indexes', async () => {
  await watch.stop();
  const links = await listLinks();
  const before = links.map(({ index }) => linkAt(network.pins, index));
  // From here on this is another node.
  enterOwnNetwork();
  ip(...links.filter(({ loopback }) => !loopback).map(otherWithNumber));
  const other = { ...network, pins: `${network.pins}/other` };
  const second = packetPlane(other);
  await bring(second, []);
  const after = links.map(({ index }) => linkAt(network.pins, index));
  assert.deepEqual(after, before);
  for (const [at, { index, loopback }] of links.entries()) {
    const own = linkAt(other.pins, index);
    assert.equal(own !== undefined, !loopback);
    assert.notEqual(own?.id, before[at]?.id ?? 0);
  }
  await second.remove();
  for (const link of before) assert.ok(link === undefined || isAttached(link.id));
});

function otherWithNumber({ index }: { readonly index: number }): string {
  return `link add name same-${index} index ${index} type bridge`;
}

test('leaves no link, pin or program after a removal', async () => {
  const place = { ...network, pins: `${network.pins}/removed` };
  const last = packetPlane(place);
  await bring(last, ROWS);
  const ids = (await listLinks()).flatMap(({ index }) => linkAt(place.pins, index) ?? []);
  assert.ok(ids.length > 0);
  await last.remove();
  for (const { id, programId } of ids) {
    assert.ok(!isAttached(id));
    await untilSo(`the program ${programId} has gone`, () => !isLoaded(programId));
  }
  assert.ok(!existsSync(pinFolderOf(place.pins)));
});

test('reports changes by another process although interfaces come and go meanwhile', async () => {
  const place = { ...network, pins: `${network.pins}/busy` };
  const busy = packetPlane(place);
  await bring(busy, ROWS);
  watch = watched(busy);
  ip('link add name before type bridge');
  const before = await indexOf('before');
  await untilSo('it is attached', () => programCount(before) === 1);
  using(openPinnedLink(pinOf(place.pins, before)), (link) => link.detach());
  ip('link add name behind type bridge');
  const behind = await indexOf('behind');
  await untilSo('the next is attached', () => programCount(behind) === 1);
  await untilSo('it is told', () => DRIFTS.length > 0, TOLD_WITHIN_MS);
  assert.match(DRIFTS[0]?.what ?? '', new RegExp(`interface ${before} was detached`));
  await watch.stop();
  await busy.remove();
});

function isLoaded(programId: number): boolean {
  const program = openProgramById(programId);
  program?.close();
  return program !== undefined;
}
