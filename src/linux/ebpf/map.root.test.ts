import assert from 'node:assert/strict';
import { test } from 'node:test';
import { enterOwnNetwork } from '../netlink/testing/own-namespace.ts';
import { MapFlag, MapType, UpdateFlag } from './bpf-constants.ts';
import type { BpfMap, MapDefinition } from './map.ts';
import { createMap } from './map-create.ts';

const NEVER = new AbortController().signal;
/** A devmap, keyed by index. Has no batch operations. */
const DEVICE_HASH = 25;
const LOOPBACK = 1;
enterOwnNetwork();

function make(about: Partial<MapDefinition>): BpfMap {
  const usual = { name: 'fl_test', type: MapType.hash, keySize: 4, valueSize: 8, maxEntries: 4000 };
  return createMap({ ...usual, flags: 0, ...about });
}

async function readAll(map: BpfMap): Promise<Map<string, Buffer>> {
  const found = new Map<string, Buffer>();
  for await (const some of map.entries(NEVER)) {
    for (const { key, value } of some) found.set(key.toString('hex'), value);
  }
  return found;
}

function numbered(count: number, size: number): Buffer {
  const bytes = Buffer.alloc(count * size);
  for (let at = 0; at < count; at += 1) bytes.writeUInt32LE(at, at * size);
  return bytes;
}

const kinds = [
  { name: 'hash', about: { type: MapType.hash } },
  { name: 'hash without memory in advance', about: { flags: MapFlag.noPrealloc } },
  { name: 'least recently used', about: { type: MapType.lruHash, maxEntries: 20_000 } },
  { name: 'hash for each CPU', about: { type: MapType.perCpuHash } },
];
for (const { name, about } of kinds) {
  test(`${name}: writes, reads and deletes many entries`, async () => {
    const map = make(about);
    const count = 2500;
    const keys = numbered(count, 4);
    await map.updateBatch(keys, numbered(count, map.entryBytes), count);
    const found = await readAll(map);
    assert.equal(found.size, count);
    assert.equal(found.get('c3090000')?.readUInt32LE(0), 2499);
    assert.equal(await map.deleteBatch(keys, count), count);
    assert.equal((await readAll(map)).size, 0);
    map.close();
  });
}

test('an array has every index, and none can be deleted', async () => {
  const map = make({ type: MapType.array, maxEntries: 3000 });
  await map.updateBatch(numbered(3000, 4), numbered(3000, 8), 3000);
  const found = await readAll(map);
  assert.equal(found.size, 3000);
  assert.equal(found.get('b70b0000')?.readUInt32LE(0), 2999);
  await assert.rejects(map.deleteBatch(numbered(1, 4), 1), { code: 'BPF_UNSUPPORTED' });
  map.close();
});

test('finds the longest matching prefix', async () => {
  const map = make({ type: MapType.lpmTrie, keySize: 8, flags: MapFlag.noPrealloc });
  const prefix = (bits: number, ...address: number[]): Buffer => {
    const key = Buffer.alloc(8);
    key.writeUInt32LE(bits);
    key.set(address, 4);
    return key;
  };
  const keys = Buffer.concat([prefix(8, 10, 0, 0, 0), prefix(24, 10, 1, 2, 0)]);
  await map.updateBatch(keys, numbered(2, 8), 2);
  assert.equal(map.lookup(prefix(32, 10, 1, 2, 3))?.readUInt32LE(0), 1);
  assert.equal(map.lookup(prefix(32, 10, 9, 9, 9))?.readUInt32LE(0), 0);
  assert.equal(map.lookup(prefix(32, 11, 0, 0, 1)), undefined);
  assert.equal((await readAll(map)).size, 2);
  assert.equal(await map.deleteBatch(keys, 2), 2);
  map.close();
});

test('uses one call per entry for a map type without batch operations', async () => {
  const map = make({ type: DEVICE_HASH, valueSize: 4 });
  const count = 1200;
  const values = Buffer.alloc(count * 4);
  for (let at = 0; at < count; at += 1) values.writeUInt32LE(LOOPBACK, at * 4);
  await map.updateBatch(numbered(count, 4), values, count);
  const found = await readAll(map);
  assert.equal(found.size, count);
  assert.equal(found.get('af040000')?.readUInt32LE(0), LOOPBACK);
  assert.equal(await map.deleteBatch(numbered(count, 4), count), count);
  assert.equal((await readAll(map)).size, 0);
  map.close();
});

test('reports how many entries were written when the map is full', async () => {
  const map = make({ maxEntries: 10, flags: MapFlag.noPrealloc });
  await assert.rejects(map.updateBatch(numbered(15, 4), numbered(15, 8), 15), {
    code: 'BPF_FULL',
    message: /15 entries of the map fl_test \(10 succeeded\)/,
  });
  map.close();
});

test('continues a batch delete after missing keys and counts the deleted ones', async () => {
  const map = make({});
  await map.updateBatch(numbered(100, 4), numbered(100, 8), 100);
  for (const gone of [0, 1, 50, 99]) map.delete(numbered(100, 4).subarray(gone * 4, gone * 4 + 4));
  assert.equal(await map.deleteBatch(numbered(120, 4), 120), 96);
  map.close();
});

test('keeps flags and sizes', () => {
  const map = make({});
  const key = Buffer.alloc(4);
  const value = Buffer.alloc(8, 3);
  assert.throws(() => map.update(key, value, UpdateFlag.mustExist), { code: 'BPF_MISSING' });
  map.update(key, value, UpdateFlag.mustBeNew);
  assert.throws(() => map.update(key, value, UpdateFlag.mustBeNew), { code: 'BPF_EXISTS' });
  assert.throws(() => map.update(key, Buffer.alloc(4)), RangeError);
  assert.throws(() => map.lookup(Buffer.alloc(3)), RangeError);
  assert.deepEqual(map.lookup(key), value);
  map.close();
});

test('rejects a count that exceeds the buffers before the kernel reads beyond them', async () => {
  const map = make({});
  await assert.rejects(map.updateBatch(Buffer.alloc(4), Buffer.alloc(8), 2), RangeError);
  await assert.rejects(map.deleteBatch(Buffer.alloc(4), 2), RangeError);
  map.close();
});
