import assert from 'node:assert/strict';
import { chmod, chown, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { assertLabsFolderOwn } from './folders.ts';

const NOBODY = 65_534;

let parent = '';
let labs = '';

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'fairlead-labs-'));
  labs = join(parent, 'labs');
  await mkdir(labs);
});
afterEach(() => rm(parent, { recursive: true }));

describe('the folder of all labs', () => {
  it('may be missing, or belong to root', async () => {
    await assertLabsFolderOwn(labs);
    await assertLabsFolderOwn(join(parent, 'missing'));
  });

  const prepared: Readonly<Record<string, () => Promise<void>>> = {
    'another user made': () => chown(labs, NOBODY, NOBODY),
    'others can write to': () => chmod(labs, 0o1777),
    'is a link': async () => {
      await rm(labs, { recursive: true });
      await symlink('/etc', labs);
    },
  };
  for (const [what, prepare] of Object.entries(prepared)) {
    it(`is rejected if it is one that ${what}`, async () => {
      await prepare();
      await assert.rejects(assertLabsFolderOwn(labs), { code: 'LAB_FOLDER_UNSAFE' });
    });
  }
});
