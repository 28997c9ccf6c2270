import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { attachTcx, type BpfLink } from '../../../../linux/ebpf/bpf-link.ts';
import { loadObject } from '../../../../linux/ebpf/load-object.ts';
import { parseObject } from '../../../../linux/ebpf/parse-object.ts';
import { compiled } from '../../../../linux/ebpf/testing/compile-object.ts';
import { ownPlace } from '../../../../linux/ebpf/testing/own-place.ts';
import { enterOwnNetwork, ip } from '../../../../linux/netlink/testing/own-namespace.ts';
import { bring } from '../testing/bring.ts';
import { indexOf, programCount } from '../testing/ingress-links.ts';
import { packetPlane, socketPlane } from '../testing/packet-plane.ts';

const place = ownPlace('ingress');
const elsewhere = { ...place, pins: join(place.pins, 'elsewhere') };
enterOwnNetwork();
/** As many as the kernel takes at one interface. */
const MOST_PROGRAMS = 63;

before(() => ip('link add name one type bridge', 'link add name two type bridge'));

after(async () => {
  await packetPlane(place).remove();
  place.leave();
});

test('detaches programs that another Fairlead left under other pins, in every mode', async () => {
  const one = await indexOf('one');
  const left = packetPlane(elsewhere);
  await bring(left, []);
  assert.equal(programCount(one), 1);
  const { differences } = await bring(socketPlane(place), []);
  const object = `ebpf ingress of interface ${one}, a second program attached beside that of Fairlead`;
  assert.ok(differences.some((each) => each.kind === 'foreign' && each.object === object));
  assert.equal(programCount(one), 0);

  await bring(packetPlane(elsewhere), []);
  assert.equal(programCount(one), 1);
  await socketPlane(place).remove();
  assert.equal(programCount(one), 0);
  await left.remove();
});

test('attaches to all other interfaces when the kernel rejects the program at one', async () => {
  const [one, two] = [await indexOf('one'), await indexOf('two')];
  const object = parseObject(compiled('conntrack'));
  const links: BpfLink[] = [];
  const loaded = Array.from({ length: MOST_PROGRAMS }, () =>
    loadObject(object, { programs: [{ name: 'learn' }] }),
  );
  for (const { programs } of loaded) {
    const program = programs.get('learn');
    assert.ok(program);
    links.push(attachTcx(program, { ifindex: one, direction: 'ingress' }));
  }
  const plane = packetPlane(place);
  try {
    const { differences } = await bring(plane, []);
    const rejected = differences.find((each) => each.object.includes(`interface ${one}: cannot`));
    assert.match(rejected?.object ?? '', /: cannot attach ingress .*: ERANGE$/);
    assert.equal(programCount(two), 1);
    const attached = (await plane.attachments()).filter(({ place: at }) => at === 'tc');
    assert.deepEqual(
      attached.map(({ name, isAttached }) => [name, isAttached]),
      [
        ['one', false],
        ['two', true],
      ],
    );
    const stop = new AbortController();
    const told: string[] = [];
    const watch = plane.watch(({ what }) => told.push(what), stop.signal);
    links.pop()?.close();
    await bring(plane, []);
    stop.abort();
    await watch;
    assert.equal(programCount(one), MOST_PROGRAMS);
    assert.deepEqual(told, []);
  } finally {
    for (const link of links) link.close();
    for (const each of loaded) each.close();
  }
});
