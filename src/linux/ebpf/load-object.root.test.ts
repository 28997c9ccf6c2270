import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MapFlag, MapType } from './bpf-constants.ts';
import { loadObject } from './load-object.ts';
import { createMap } from './map-create.ts';
import { parseObject } from './parse-object.ts';
import { compiled } from './testing/compile-object.ts';

const NEVER = new AbortController().signal;

test('loads a program with maps, global variables and functions of its own', () => {
  const loaded = loadObject(parseObject(compiled('connect')), {
    programs: [{ name: 'connect4' }, { name: 'count_bytes' }],
    maxEntries: new Map([['redirects', 4096]]),
    variables: new Map([['answer', Uint8Array.of(42, 0, 0, 0)]]),
  });
  try {
    assert.equal(loaded.maps.get('redirects')?.maxEntries, 4096);
    assert.deepEqual(loaded.maps.get('.rodata')?.lookup(Buffer.alloc(4)), Buffer.of(42, 0, 0, 0));
    const run = loaded.programs.get('count_bytes')?.testRun({ data: Buffer.alloc(64) });
    assert.equal(run?.returned, 64);
  } finally {
    loaded.close();
  }
});

test('writes, reads, counts and deletes map entries, singly and in batches', async () => {
  const loaded = loadObject(parseObject(compiled('connect')), {
    programs: [],
    maxEntries: new Map([['redirects', 5000]]),
  });
  try {
    const map = loaded.maps.get('redirects');
    assert.ok(map);
    const count = 3000;
    const keys = Buffer.alloc(count * 8);
    const values = Buffer.alloc(count * 8);
    for (let at = 0; at < count; at += 1) {
      keys.writeUInt32LE(at, at * 8);
      values.writeUInt32LE(at * 3, at * 8);
    }
    await map.updateBatch(keys, values, count);
    assert.equal(map.lookup(keys.subarray(80, 88))?.readUInt32LE(0), 30);
    const seen = new Set<number>();
    for await (const some of map.entries(NEVER)) {
      for (const { key, value } of some) {
        assert.equal(value.readUInt32LE(0), key.readUInt32LE(0) * 3);
        seen.add(key.readUInt32LE(0));
      }
    }
    assert.equal(seen.size, count);
    assert.equal(map.delete(keys.subarray(0, 8)), true);
    assert.equal(map.delete(keys.subarray(0, 8)), false);
    assert.equal(await map.deleteBatch(keys, count), count - 1);
    assert.equal(map.lookup(keys.subarray(80, 88)), undefined);
  } finally {
    loaded.close();
  }
});

test('reuses an existing map if it matches the declaration', () => {
  const definition = { name: 'redirects', type: MapType.hash, keySize: 8, valueSize: 8 };
  const fitting = createMap({ ...definition, maxEntries: 9, flags: MapFlag.noPrealloc });
  const other = createMap({ ...definition, valueSize: 16, maxEntries: 9, flags: 0 });
  const object = parseObject(compiled('connect'));
  const programs = [{ name: 'connect4' }];
  try {
    const loaded = loadObject(object, { programs, maps: new Map([['redirects', fitting]]) });
    assert.equal(loaded.maps.get('redirects'), fitting);
    loaded.close();
    // It was given, so it is not closed with the rest.
    assert.equal(fitting.lookup(Buffer.alloc(8)), undefined);
    assert.throws(() => loadObject(object, { programs, maps: new Map([['redirects', other]]) }), {
      code: 'BPF_MAP_DIFFERS',
      message: /redirects .* valueSize 16 instead of 8, flags 0 instead of 1/,
    });
  } finally {
    fitting.close();
    other.close();
  }
});
