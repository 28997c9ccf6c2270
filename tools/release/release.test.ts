import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { versionOf } from '../image/program.ts';
import { releaseNotes } from './notes.ts';
import { differingNames, sumsOf } from './sums.ts';

const root = join(import.meta.dirname, '../..');
const FILES = [
  { name: 'b', bytes: Buffer.from('2') },
  { name: 'a', bytes: Buffer.from('1') },
];

test('writes sums that sha256sum reads, in the order of names', () => {
  const { name, bytes } = sumsOf(FILES);
  assert.equal(name, 'SHA256SUMS');
  assert.equal(
    String(bytes),
    '6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b  a\n' +
      'd4735e3a265e16eee03f59718b9b5d03019c07d8b6c51f90da3a666eec13ab35  b\n',
  );
});

test('names each file that differs, and each that only one of two releases has', () => {
  const sums = (...files: typeof FILES) => String(sumsOf(files).bytes);
  assert.deepEqual(differingNames(sums(...FILES), sums(...FILES.toReversed())), []);
  const other = [
    { name: 'a', bytes: Buffer.from('1') },
    { name: 'b', bytes: Buffer.from('3') },
    { name: 'c', bytes: Buffer.from('4') },
  ];
  assert.deepEqual(differingNames(sums(...FILES), sums(...other)), ['b', 'c']);
});

test('takes the notes of one version, and fails for a version without any', () => {
  const changelog = '# Changelog\n\nFirst.\n\n## 0.2.0\n\nTwo.\n\n## 0.1.0\n\n- One.\n';
  assert.equal(releaseNotes(changelog, '0.2.0'), 'Two.\n');
  assert.equal(releaseNotes(changelog, '0.1.0'), '- One.\n');
  assert.throws(() => releaseNotes(changelog, '0.3.0'), { code: 'RELEASE_NOTES_MISSING' });
  assert.throws(() => releaseNotes('## 0.3.0\n\n', '0.3.0'), { code: 'RELEASE_NOTES_MISSING' });
});

test('has notes for the version in package.json', async () => {
  const changelog = await readFile(join(root, 'CHANGELOG.md'), 'utf8');
  assert.match(releaseNotes(changelog, await versionOf(root)), /\w/);
});
