import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Attr } from './attr.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

test('keeps a buffer alive while the attribute that has its address is alive', async () => {
  const attr = new Attr();
  const refs = [1024, 8].map((size, at) => {
    const bytes = Buffer.alloc(size);
    attr.pointer(at * 8, bytes);
    return new WeakRef(bytes);
  });
  const other = new WeakRef(Buffer.alloc(1024));
  await nextTurn();
  collectGarbage();
  assert.equal(other.deref(), undefined);
  assert.deepEqual(
    refs.map((ref) => ref.deref()?.length),
    [1024, 8],
  );
  assert.equal(attr.heldBuffers(), 2);
});

test('truncates names and replaces characters that the kernel rejects', () => {
  const attr = new Attr().name(0, 'a-name/longer than the kernel takes');
  assert.equal(attr.bytes.toString('latin1', 0, 17), 'a_name_longer_t\0\0');
});

test('gives an empty buffer no address', () => {
  assert.equal(new Attr().pointer(0, Buffer.alloc(0)).bytes.readBigUInt64LE(0), 0n);
});
