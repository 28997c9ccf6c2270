import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { it } from 'node:test';
import { mappedParts } from './memory-parts.ts';

const KIB = 1024;

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
