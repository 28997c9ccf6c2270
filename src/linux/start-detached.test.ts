import assert from 'node:assert/strict';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startDetached } from './start-detached.ts';

test('starts a program in its own session, with the given descriptors', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-detached-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'said');
  const fd = openSync(path, 'w');
  const script =
    'echo "$(cut -d" " -f6 /proc/$$/stat) $$ $(readlink /proc/$$/cwd)" >&3; kill -9 $$';
  const { pid, ended } = await startDetached({
    command: 'sh',
    args: ['-c', script],
    descriptors: [fd],
  });
  assert.equal(await ended, 'SIGKILL');
  closeSync(fd);
  assert.equal(readFileSync(path, 'utf8'), `${pid} ${pid} /\n`);
});

test('rejects when the program does not exist', async () => {
  const call = { command: '/nowhere/program', args: [], descriptors: [] };
  await assert.rejects(startDetached(call), { code: 'ENOENT' });
});
