import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { Drift } from '../../../../dataplanes/contract.ts';
import { compiledProgram } from '../../../../linux/ebpf/testing/compiled-program.ts';
import { ownPlace } from '../../../../linux/ebpf/testing/own-place.ts';
import { enterOwnNetwork, ip } from '../../../../linux/netlink/testing/own-namespace.ts';
import { listLinks } from '../../../../linux/route/watch-links.ts';
import { Pins } from '../pins.ts';
import { bring } from '../testing/bring.ts';
import { programCount, untilSo } from '../testing/ingress-links.ts';
import { packetPlane } from '../testing/packet-plane.ts';
import { Ingress } from './ingress.ts';
import { INGRESS, loadPrograms } from './programs.ts';

const place = ownPlace('many-interfaces');
enterOwnNetwork();
const plane = packetPlane(place);
const MANY = 40;

after(async () => {
  await plane.remove();
  place.leave();
});

function addInterfaces(prefix: string): void {
  ip(...Array.from({ length: MANY }, (_, at) => `link add name ${prefix}${at} type bridge`));
}

async function programCounts(): Promise<number[]> {
  const served = (await listLinks()).filter(({ loopback }) => !loopback);
  return served.map(({ index }) => programCount(index));
}

/** How often the event loop runs until it is done. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  const count = setInterval(() => {
    turns += 1;
  }, 0);
  await work;
  clearInterval(count);
  return turns;
}

test('yields to the event loop while many interfaces get the program', async (t) => {
  addInterfaces('first');
  const beganMs = performance.now();
  const turns = await turnsDuring(bring(plane, []));
  const tookMs = performance.now() - beganMs;
  assert.deepEqual(await programCounts(), new Array(MANY).fill(1));
  assert.ok(turns >= MANY / 2, `${turns} turns`);
  t.diagnostic(`${MANY} interfaces took ${tookMs.toFixed()} ms`);
});

test('attaches once to interfaces reported while others are being attached, without drift', async () => {
  const drifts: Drift[] = [];
  const stop = new AbortController();
  const watch = plane.watch((drift) => drifts.push(drift), stop.signal);
  addInterfaces('second');
  const inspected = bring(plane, []);
  addInterfaces('third');
  ip('link del second0');
  await inspected;
  const links = (await listLinks()).filter(({ loopback }) => !loopback);
  assert.equal(links.length, 3 * MANY - 1);
  await untilSo('all are attached', () => links.every(({ index }) => programCount(index) === 1));
  stop.abort();
  await watch;
  assert.deepEqual(drifts, []);
  assert.equal((await bring(packetPlane(place), [])).writeCount, 0);
});

test('attaches once to interfaces that are queued, and does not report them as missing', async () => {
  const pins = new Pins(join(place.pins, 'waiting'));
  pins.make();
  const objects = { sockets: compiledProgram('sock'), packets: compiledProgram('tc') };
  const loaded = loadPrograms(objects, { maps: new Map() });
  const served = (await listLinks()).filter(({ loopback }) => !loopback).map(({ index }) => index);
  const interfaces = () => served;
  const ingress = new Ingress({ pins, interfaces, program: loaded.programs.get(INGRESS) });
  try {
    const repaired = ingress.repair();
    assert.ok(pins.linkNames().length < served.length, 'nobody waits');
    assert.deepEqual(ingress.differences(), []);
    // News that come now find the same ones without the program.
    await Promise.all([repaired, ingress.follow()]);
    assert.equal(pins.linkNames().length, served.length);
  } finally {
    ingress.close();
    loaded.close();
    pins.removeAll();
  }
});
