import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { enterOwnNetwork, run } from '../netlink/testing/own-namespace.ts';
import { openPinnedProgram } from './bpf-program.ts';
import { loadObject } from './load-object.ts';
import { parseObject } from './parse-object.ts';
import { compiled, objectPath } from './testing/compile-object.ts';
import { ownPlace } from './testing/own-place.ts';

const place = ownPlace('core');
enterOwnNetwork();
after(() => place.leave());

/** Versions of libbpf differ in what they write for a missing function that is never called. */
const DIFFER = new Set(['do_without']);

for (const name of ['connect', 'conntrack', 'sockets']) {
  test(`${name}: relocates every instruction as libbpf does on this kernel`, () => {
    const object = parseObject(compiled(name));
    const folder = join(place.pins, name);
    mkdirSync(folder);
    // bpftool has libbpf inside. The tag is a hash of the instructions, without numbers of maps.
    run(['bpftool', 'prog', 'loadall', objectPath(name), folder]);
    const programs = object.programs
      .map((program) => ({ name: program.name }))
      .filter((one) => !DIFFER.has(one.name));
    const loaded = loadObject(object, { programs });
    try {
      for (const program of loaded.programs.values()) {
        const theirs = openPinnedProgram(join(folder, program.name));
        assert.equal(program.tag, theirs.tag, program.name);
        theirs.close();
      }
    } finally {
      loaded.close();
    }
  });
}

test('uses the offsets, sizes and existence of the running kernel', () => {
  const loaded = loadObject(parseObject(compiled('conntrack')), { programs: [{ name: 'learn' }] });
  try {
    loaded.programs.get('learn')?.testRun({ data: Buffer.alloc(64) });
    const facts = Array.from({ length: 7 }, (_, index) => {
      const key = Buffer.alloc(4);
      key.writeUInt32LE(index);
      return Number(loaded.maps.get('facts')?.lookup(key)?.readBigUInt64LE(0));
    });
    const [status, wrongField, protoSize, wrongType, connSize = 0, toDestination] = facts;
    assert.ok(status && status % 8 === 0 && status < connSize, `status is at ${status}`);
    assert.ok(protoSize && protoSize < connSize, `proto has ${protoSize} bytes of ${connSize}`);
    assert.deepEqual([wrongField, wrongType, toDestination], [0, 0, 1]);
  } finally {
    loaded.close();
  }
});

test('loads a program that does not need a function the kernel lacks', () => {
  const loaded = loadObject(parseObject(compiled('conntrack')), {
    programs: [{ name: 'do_without' }],
  });
  const STOLEN = 4;
  assert.equal(loaded.programs.get('do_without')?.testRun({ data: packet() }).returned, STOLEN);
  loaded.close();
});

test('calls kernel functions: inserts an entry, then looks it up', () => {
  const loaded = loadObject(parseObject(compiled('conntrack')), { programs: [{ name: 'track' }] });
  try {
    const mark = (): number | undefined =>
      loaded.programs
        .get('track')
        ?.testRun({ data: packet(), ctx: Buffer.alloc(192) })
        .ctx.readUInt32LE(8);
    assert.equal(mark(), 1);
    const CONFIRMED = 1 << 3;
    const DESTINATION_CHANGED = 1 << 5;
    const status = mark() ?? 0;
    assert.equal(status & (CONFIRMED | DESTINATION_CHANGED), CONFIRMED | DESTINATION_CHANGED);
  } finally {
    loaded.close();
  }
});

function packet(): Buffer {
  const bytes = Buffer.alloc(64);
  bytes.writeUInt16BE(0x0800, 12);
  return bytes;
}
