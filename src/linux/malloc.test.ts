import assert from 'node:assert/strict';
import { it } from 'node:test';
import koffi from 'koffi';

it('fails only when called on a C library without malloc_trim', async (test) => {
  test.mock.method(koffi, 'load', () => {
    throw new Error('there is no malloc_trim');
  });
  const { giveBackFreed } = await import('./malloc.ts');
  assert.throws(giveBackFreed, /there is no malloc_trim/);
});

it('returns memory to the system', async () => {
  const { giveBackFreed } = await import('./malloc.ts');
  assert.doesNotThrow(giveBackFreed);
});
