import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { it } from 'node:test';
import koffi from 'koffi';

const MODULE = join(import.meta.dirname, 'malloc.ts');
const MIB = 1024 ** 2;
/** Large enough to be mapped at first, and freed once, which moves the limit of glibc. */
const BLOCKS = { count: 400, bytes: 256 * 1024 };

it('fails only when called on a C library without malloc_trim', async (test) => {
  test.mock.method(koffi, 'load', () => {
    throw new Error('there is no malloc_trim');
  });
  const { giveBackFreed, mapLargeBlocks } = await import('./malloc.ts');
  assert.throws(giveBackFreed, /there is no malloc_trim/);
  assert.throws(mapLargeBlocks, /there is no malloc_trim/);
});

it('returns memory to the system', async () => {
  const { giveBackFreed } = await import('./malloc.ts');
  assert.doesNotThrow(giveBackFreed);
});

it('keeps large blocks out of the heap of malloc, which glibc by itself does not', () => {
  const all = BLOCKS.count * BLOCKS.bytes;
  assert.ok(heapOfMallocBytes('') > all, 'glibc has them there');
  const own = `(await import(${JSON.stringify(MODULE)})).mapLargeBlocks();`;
  const ownBytes = heapOfMallocBytes(own);
  assert.ok(ownBytes < all / 2, `${ownBytes} bytes`);
});

/** How much of it is resident in a process that first runs this, and then uses large blocks. */
function heapOfMallocBytes(first: string): number {
  const program = `
    import { readFileSync } from 'node:fs';
    ${first}
    const keptBytes = process.memoryUsage().arrayBuffers;
    let blocks = [Buffer.allocUnsafeSlow(${2 * MIB})];
    blocks = [];
    for (let attempt = 0; process.memoryUsage().arrayBuffers > keptBytes && attempt < 100; attempt++) {
      gc();
      await new Promise((resolve) => setTimeout(resolve));
    }
    for (let at = 0; at < ${BLOCKS.count}; at++) {
      blocks.push(Buffer.allocUnsafeSlow(${BLOCKS.bytes}).fill(at));
    }
    const heap = readFileSync('/proc/self/smaps', 'utf8').split(/^(?=[0-9a-f]+-)/m)
      .filter((mapping) => mapping.includes('[heap]'));
    console.log(1024 * Number(/^Rss: +(\\d+) kB$/m.exec(heap[0])[1]), blocks.length);
  `;
  const argv = ['--expose-gc', '--input-type=module', '--eval', program];
  return Number(execFileSync(process.execPath, argv, { encoding: 'utf8' }).split(' ')[0]);
}
