import assert from 'node:assert/strict';
import {
  chmod,
  chown,
  lchown,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { startFolderAttacker } from '../../../linux/testing/start-folder-attacker.ts';
import { makeShellFolder, removeShellFolder } from './shell-folder.ts';

const NOBODY = 65_534;
const ENDED_PID = 99_999_999;

let folder = '';
let shared = '';
let own = '';
let made = '';

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fairlead-shell-folder-'));
  await chmod(folder, 0o755);
  shared = join(folder, 'shared');
  await mkdir(shared);
  await chmod(shared, 0o1777);
  own = join(folder, 'own');
  await mkdir(own, { mode: 0o700 });
});

afterEach(async () => {
  if (made !== '') await removeShellFolder(made);
  made = '';
  await rm(folder, { recursive: true });
});

async function make(runtimeFolder: string): Promise<string> {
  made = await makeShellFolder({ XDG_RUNTIME_DIR: runtimeFolder, TMPDIR: shared });
  return made;
}

async function leftOver(parent: string, pid = ENDED_PID): Promise<string> {
  const path = join(parent, `fairlead-shell-${pid}-left`);
  await mkdir(join(path, 'run'), { recursive: true, mode: 0o700 });
  await writeFile(join(path, 'run/token'), 'secret');
  return path;
}

describe('the folder of a shell', () => {
  it('is for its owner alone, below XDG_RUNTIME_DIR, and is removed with what it holds', async () => {
    const path = await make(own);
    assert.equal(dirname(path), own);
    assert.equal((await lstat(path)).mode & 0o777, 0o700);
    await writeFile(join(path, 'token'), 'secret');
    await removeShellFolder(path);
    await removeShellFolder(path);
    assert.deepEqual(await readdir(own), []);
  });

  const unsafe: Readonly<Record<string, () => Promise<unknown>>> = {
    'belongs to another user': () => chown(own, NOBODY, NOBODY),
    'is writable by its group': () => chmod(own, 0o770),
    'is writable by everybody, as /tmp': () => chmod(own, 0o1777),
    'is a link of another user': async () => {
      await rename(own, join(folder, 'real'));
      await symlink(join(folder, 'real'), join(shared, 'own'));
      await lchown(join(shared, 'own'), NOBODY, NOBODY);
      own = join(shared, 'own');
    },
    'is below a folder that others can write to': async () => {
      await chmod(folder, 0o777);
    },
  };
  for (const [what, change] of Object.entries(unsafe)) {
    it(`is not below an XDG_RUNTIME_DIR that ${what}`, async () => {
      await change();
      assert.notEqual(dirname(await make(own)), own);
    });
  }

  it('is nowhere rather than where others could replace it', async () => {
    await chmod(shared, 0o777);
    await assert.rejects(makeShellFolder({ XDG_RUNTIME_DIR: shared, TMPDIR: shared }, []), {
      code: 'SHELL_FOLDER_UNSAFE',
    });
    assert.deepEqual(await readdir(shared), []);
  });

  it('is in the shared temporary folder where the user has no folder of their own', async () => {
    made = await makeShellFolder({ TMPDIR: shared }, []);
    assert.equal(dirname(made), shared);
    assert.equal((await lstat(made)).mode & 0o777, 0o700);
  });
});

describe('what shells that were killed left behind', () => {
  it('is removed in the own folder of the user', async () => {
    await leftOver(own);
    const path = await make(own);
    assert.deepEqual(
      (await readdir(own)).map((name) => join(own, name)),
      [path],
    );
  });

  it('stays while its process is alive', async () => {
    const alive = await leftOver(own, process.pid);
    await make(own);
    assert.deepEqual(await readdir(join(alive, 'run')), ['token']);
  });

  it('stays in a folder that others can write to, whoever owns it', async () => {
    const ours = await leftOver(shared);
    const theirs = await leftOver(shared, ENDED_PID - 1);
    await chown(theirs, NOBODY, NOBODY);
    await make(shared);
    for (const path of [ours, theirs])
      assert.deepEqual(await readdir(join(path, 'run')), ['token']);
  });

  it('does not stop a start when it cannot be removed', async () => {
    const foreign = await leftOver(own);
    await chown(foreign, NOBODY, NOBODY);
    assert.equal(dirname(await make(own)), own);
    assert.deepEqual(await readdir(join(foreign, 'run')), ['token']);
  });
});

describe('an attacker in a shared folder', () => {
  it('cannot have another folder emptied by swapping a left-over for a link', async () => {
    const victim = join(folder, 'victim');
    await mkdir(victim, { mode: 0o700 });
    await writeFile(join(victim, 'precious'), '');
    await using attacker = await startFolderAttacker(shared, victim);
    await writeFile(join(shared, 'go'), '');
    await make(shared);
    await writeFile(join(shared, 'over'), '');
    await attacker.ended;
    assert.deepEqual(await readdir(victim), ['precious']);
  });

  it('cannot have another folder emptied by replacing the folder of a shell', async () => {
    const victim = join(folder, 'victim');
    await mkdir(victim, { mode: 0o755 });
    await writeFile(join(victim, 'precious'), '');
    const path = await make(own);
    await rename(path, join(own, 'moved'));
    await symlink(victim, path);
    await assert.rejects(removeShellFolder(path), { code: 'ENOTDIR' });
    assert.deepEqual(await readdir(victim), ['precious']);
    await rm(path);
    await chown(victim, NOBODY, NOBODY);
    await rename(victim, path);
    await assert.rejects(removeShellFolder(path), { code: 'FOLDER_NOT_OWN' });
    assert.deepEqual(await readdir(path), ['precious']);
    await rm(path, { recursive: true });
  });
});
