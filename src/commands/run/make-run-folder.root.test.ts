import assert from 'node:assert/strict';
import { chmod, chown, mkdtemp, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { makeRunFolder } from './make-run-folder.ts';

const NOBODY = 65_534;

let folder = '';

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fairlead-run-folder-'));
});
afterEach(() => rm(folder, { recursive: true }));

describe('the folder of a running Fairlead', () => {
  it('is created for root to write to', async () => {
    const path = join(folder, 'a/b');
    await makeRunFolder(path);
    await makeRunFolder(path);
    assert.equal((await stat(path)).mode & 0o777, 0o755);
  });

  const prepared: Readonly<Record<string, (path: string) => Promise<void>>> = {
    'a folder of another user': (path) => chown(path, NOBODY, NOBODY),
    'a folder that its group can write to': (path) => chmod(path, 0o775),
    'a folder like /tmp': (path) => chmod(path, 0o1777),
    'below a folder of another user, who could replace it': () => chown(folder, NOBODY, NOBODY),
    'below a folder that others can write to, and that is not sticky': () => chmod(folder, 0o777),
    'a link': async (path) => {
      await rm(path, { recursive: true });
      await symlink('/etc', path);
    },
  };
  for (const [what, prepare] of Object.entries(prepared)) {
    it(`is not ${what}`, async () => {
      const path = join(folder, 'run');
      await makeRunFolder(path);
      await prepare(path);
      await assert.rejects(makeRunFolder(path), { code: 'RUN_FOLDER_UNSAFE' });
    });
  }
});
