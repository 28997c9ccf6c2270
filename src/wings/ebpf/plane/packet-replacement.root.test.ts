import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { openPinnedLink } from '../../../linux/ebpf/bpf-link.ts';
import { compiledProgram } from '../../../linux/ebpf/testing/compiled-program.ts';
import { listLinks } from '../../../linux/route/watch-links.ts';
import type { HooksPlane } from './hooks-plane.ts';
import { openMaps } from './maps/map-set.ts';
import { Pins } from './pins.ts';
import { INGRESS, loadPrograms, type Objects } from './places/programs.ts';
import { bring, connectionsOf } from './testing/bring.ts';
import { frontendAt, serviceOf } from './testing/ebpf-service.ts';
import { pinOf, untilSo, using } from './testing/ingress-links.ts';
import { addNatChains, type NodeNetwork, nodeNetwork } from './testing/node-network.ts';
import { packetPlane, pinFolderOf } from './testing/packet-plane.ts';

let network: NodeNetwork;
let plane: HooksPlane;
const TO_WEB = { transport: 'TCP', address: '10.96.0.1', port: 80 } as const;
const REPLACEMENTS = 20;
const ASKED_AT_ONCE = 20;

before(async () => {
  network = await nodeNetwork('packet-replacement');
  addNatChains();
  plane = packetPlane(network);
  const of = { endpoints: network.endpoints.map(({ ipv4 }) => ipv4) };
  const frontends = [frontendAt(TO_WEB.address)];
  await bring(plane, [
    serviceOf('dns', { ...of, frontends, protocol: 'UDP' }),
    serviceOf('web', { ...of, frontends }),
  ]);
});

after(async () => {
  await plane.remove();
  network.leave();
});

/** The same program, loaded once more on the same maps, at every interface. */
async function replacePrograms(objects: Objects): Promise<void> {
  const maps = openMaps(new Pins(pinFolderOf(network.pins)));
  assert.ok(maps);
  const loaded = loadPrograms(objects, { maps });
  const program = loaded.programs.get(INGRESS);
  assert.ok(program);
  for (const { index } of await listLinks()) {
    const pin = pinOf(network.pins, index);
    if (existsSync(pin)) using(openPinnedLink(pin), (link) => link.update(program));
  }
  loaded.close();
  for (const map of maps.values()) map.close();
}

test('replaces programs while pods connect, without a failed connection', async (t) => {
  const before = await connectionsOf(plane);
  const objects = { sockets: compiledProgram('sock'), packets: compiledProgram('tc') };
  let asked = 0;
  let isOver = false;
  const load = (async () => {
    while (!isOver) {
      const answers = await network.client.ask({ ...TO_WEB, count: ASKED_AT_ONCE });
      assert.deepEqual(
        answers.filter(({ from }) => from === ''),
        [],
      );
      asked += answers.length;
    }
  })();
  for (let round = 0; round < REPLACEMENTS; round++) {
    const known = asked;
    await replacePrograms(objects);
    await untilSo('more connections are made', () => asked > known);
  }
  isOver = true;
  await load;
  assert.equal((await connectionsOf(plane)) - before, asked, 'each was decided by the program');
  t.diagnostic(`${REPLACEMENTS} replacements, ${asked} connections, none failed`);
});

test('keeps open connections alive when everything is removed', async () => {
  const peers = (['TCP', 'UDP'] as const).map((transport) => ({ ...TO_WEB, transport }));
  const held = await Promise.all(peers.map((peer) => network.client.hold(peer)));
  const speak = async () =>
    (await Promise.all(held.map((each) => each.speak()))).map(({ by }) => by);
  const first = await speak();
  assert.ok(
    first.every((by) => /^e\d$/.test(by)),
    first.join(),
  );
  await plane.remove();
  assert.deepEqual(await speak(), first);
  const [nobody] = await network.client.ask({ ...TO_WEB, timeoutMs: 500 });
  assert.equal(nobody?.by, 'TIMEOUT', 'nobody serves new ones');
  assert.deepEqual(await speak(), first);
});
