import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { run } from '../../linux/netlink/testing/own-namespace.ts';
import { tarOf } from './tar.ts';

it('is read by tar with the names, bytes and dates that were given', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-tar-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const files = [
    { path: 'bundle/empty.txt', text: '' },
    { path: 'bundle/small.txt', text: 'größer\n' },
    { path: 'bundle/large.txt', text: 'x'.repeat(5120) },
  ];
  const dateMs = Date.UTC(2026, 0, 2, 3, 4, 5);
  writeFileSync(join(folder, 'a.tar'), tarOf(files, dateMs));
  const listed = run(['tar', '--utc', '--full-time', '-tvf', join(folder, 'a.tar')]);
  assert.equal(listed.match(/-rw------- 0\/0 .* 2026-01-02 03:04:05/g)?.length, 3, listed);
  run(['tar', '-xf', join(folder, 'a.tar'), '-C', folder]);
  for (const { path, text } of files) {
    assert.equal(readFileSync(join(folder, path), 'utf8'), text);
  }
});

it('throws on a path that does not fit', () => {
  assert.throws(() => tarOf([{ path: 'x'.repeat(101), text: '' }], 0), RangeError);
});
