import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BLOCK_BYTES, Blocks } from './blocks.ts';

test('receives less at once while much is kept', () => {
  const blocks = new Blocks(2 * BLOCK_BYTES);
  assert.equal(blocks.receiveBytes, BLOCK_BYTES);
  const kept = [blocks.keep(0, BLOCK_BYTES), blocks.keep(100, BLOCK_BYTES)];
  assert.equal(blocks.receiveBytes, 16 * 1024);
  const small = blocks.keep(0, blocks.receiveBytes);
  assert.equal(small.block.bytes.length, 16 * 1024);
  for (const { block } of [small, ...kept]) blocks.release(block);
  assert.equal(blocks.receiveBytes, BLOCK_BYTES);
});

test('keeps bytes where the next ones are not received', () => {
  const blocks = new Blocks();
  blocks.current.bytes.fill(1);
  const large = blocks.keep(10, BLOCK_BYTES);
  blocks.current.bytes.fill(2);
  const small = blocks.keep(10, 20);
  blocks.current.bytes.fill(3);
  assert.equal(large.block.bytes.at(large.from), 1);
  assert.equal(small.block.bytes.at(small.from), 2);
  assert.equal(small.end - small.from, 10);
});
