import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Entry } from './entry.ts';
import { tar } from './tar.ts';
import { readTar } from './testing/read-tar.ts';

const FILES: readonly Entry[] = [
  { kind: 'link', path: 'usr/bin/b', target: '../lib/b' },
  { kind: 'file', path: 'usr/lib/b', bytes: Buffer.from('#!b'), isExecutable: true },
  { kind: 'file', path: 'a', bytes: Buffer.alloc(512, 'a') },
  { kind: 'folder', path: 'run' },
];

test('folders come by themselves and before what is in them', () => {
  const read = readTar(tar(FILES)).map(({ path, mode, type }) => `${type} ${mode} ${path}`);
  assert.deepEqual(read, [
    '0 0000644 a',
    '5 0000755 run/',
    '5 0000755 usr/',
    '5 0000755 usr/bin/',
    '2 0000777 usr/bin/b',
    '5 0000755 usr/lib/',
    '0 0000755 usr/lib/b',
  ]);
});

test('contents and targets of links are as given', () => {
  const read = readTar(tar(FILES));
  assert.equal(read.find(({ path }) => path === 'usr/lib/b')?.bytes.toString(), '#!b');
  assert.equal(read.find(({ path }) => path === 'a')?.bytes.length, 512);
  assert.equal(read.find(({ path }) => path === 'usr/bin/b')?.target, '../lib/b');
});

test('the order in which entries are given does not matter', () => {
  assert.ok(tar(FILES).equals(tar(FILES.toReversed())));
});

test('rejects a name that does not fit, and does not truncate it', () => {
  const path = 'x'.repeat(101);
  assert.throws(() => tar([{ kind: 'folder', path }]), { code: 'IMAGE_PATH_TOO_LONG' });
});
