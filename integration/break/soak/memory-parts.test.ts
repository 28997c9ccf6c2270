import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { it } from 'node:test';
import { mappedParts } from './memory-parts.ts';
import { memoryRows } from './memory-table.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

it('tells pages of files, of malloc and all others apart', () => {
  const smaps = [
    '00400000-0b000000 r-xp 00000000 fe:00 4711                              /usr/bin/a node',
    'Rss:               40000 kB',
    'Private_Dirty:         8 kB',
    '1c5b6000-1d200000 rw-p 00000000 00:00 0                                  [heap]',
    'Rss:                9000 kB',
    '7f0000000000-7f0000040000 rw-p 00000000 00:00 0 ',
    'Rss:                 256 kB',
    '7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0                          [stack]',
    'Rss:                  44 kB',
    '',
  ].join('\n');
  assert.deepEqual(mappedParts(smaps), {
    fileBytes: 40_000 * KIB,
    mallocBytes: 9_000 * KIB,
    anonymousBytes: 300 * KIB,
  });
});

it('accounts for all that is resident in this process', async () => {
  const { fileBytes, mallocBytes, anonymousBytes } = mappedParts(
    await readFile('/proc/self/smaps', 'utf8'),
  );
  const { rss } = process.memoryUsage();
  const all = fileBytes + mallocBytes + anonymousBytes;
  assert.ok(Math.abs(all - rss) < rss / 10, `${all} of ${rss} bytes`);
  assert.ok(fileBytes > 0 && mallocBytes > 0 && anonymousBytes > 0);
});

it('tells how each part of memory moved after the warm-up', () => {
  const samples = Array.from({ length: 100 }, (_, second) => ({
    atSeconds: second,
    residentBytes: 0,
    heapBytes: 0,
    descriptors: 0,
    p99Ms: null,
    changes: 0,
    memory: {
      fileBytes: 50 * MIB,
      mallocBytes: second * MIB,
      anonymousBytes: (second % 5) * MIB,
      claimedHeapBytes: 30 * MIB,
      bufferBytes: MIB,
    },
  }));
  assert.deepEqual(
    memoryRows(samples).map(([, ...values]) => values),
    [
      ['50.0 MB', '50.0 MB'],
      ['50.0 MB', '95.0 MB'],
      ['0.0 MB', '0.0 MB'],
      ['30.0 MB', '30.0 MB'],
      ['1.0 MB', '1.0 MB'],
    ],
  );
  assert.deepEqual(memoryRows(samples.map(({ memory: _, ...before }) => before)), []);
});
