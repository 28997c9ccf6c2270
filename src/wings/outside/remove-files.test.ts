import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { assertOwnFiles, installFile, makeFolders } from './install-files.ts';
import { deletionCommands, offPage, unknownAccountText } from './off-view.ts';
import { below, CONFIG_FILE, UNIT_FILE } from './paths.ts';
import { addToRecord, fileEntry, readRecord } from './record.ts';
import { removeFiles, removeFolders, removeRecord } from './remove-files.ts';
import { PUBLIC_FILE_MODE, TEMPORARY_SUFFIX } from './write-files.ts';

const FILES = [
  { path: CONFIG_FILE, text: 'config\n', mode: PUBLIC_FILE_MODE },
  { path: UNIT_FILE, text: 'unit\n', mode: PUBLIC_FILE_MODE },
];

async function rootFor(t: TestContext): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'fairlead-files-'));
  t.after(() => rm(root, { recursive: true }));
  return root;
}

async function installAll(root: string): Promise<readonly string[]> {
  await makeFolders(
    root,
    FILES.map(({ path }) => path),
  );
  const done: string[] = [];
  for (const file of FILES) done.push((await installFile(root, file)).done);
  return done;
}

async function removeAll(root: string, force = false): Promise<readonly string[]> {
  const { files, folders } = await readRecord(root);
  const { kept } = await removeFiles(root, files, force);
  await removeRecord(root);
  await removeFolders(root, folders);
  return kept;
}

describe('files of a machine', () => {
  it('are written, left alone when they are the same, and removed with their folders', async (t) => {
    const root = await rootFor(t);
    assert.deepEqual(await installAll(root), ['created', 'created']);
    assert.deepEqual(await installAll(root), ['unchanged', 'unchanged']);
    assert.deepEqual(await removeAll(root), []);
    assert.deepEqual(await readdir(root), []);
  });

  it('stay where folders were there before', async (t) => {
    const root = await rootFor(t);
    await mkdir(join(root, 'etc/systemd/system'), { recursive: true });
    await installAll(root);
    await removeAll(root);
    assert.deepEqual(await readdir(root, { recursive: true }), [
      'etc',
      'etc/systemd',
      'etc/systemd/system',
    ]);
  });

  it('are kept when they were changed, unless removal is forced', async (t) => {
    const root = await rootFor(t);
    await installAll(root);
    await writeFile(below(root, CONFIG_FILE), 'mine\n');
    assert.deepEqual(await removeAll(root), [below(root, CONFIG_FILE)]);
    assert.deepEqual(await readdir(join(root, 'etc'), { recursive: true }), [
      'fairlead',
      'fairlead/config.conf',
    ]);
    await addToRecord(root, { files: [fileEntry(CONFIG_FILE, 'config\n')] });
    assert.deepEqual(await removeAll(root, true), []);
    assert.deepEqual(await readdir(join(root, 'etc'), { recursive: true }), []);
  });

  it('are removed after a writer was killed: recorded and missing, or half written', async (t) => {
    const root = await rootFor(t);
    await makeFolders(
      root,
      FILES.map(({ path }) => path),
    );
    await addToRecord(root, { files: [fileEntry(CONFIG_FILE, 'config\n')] });
    await writeFile(`${below(root, CONFIG_FILE)}.1234${TEMPORARY_SUFFIX}`, 'conf');
    assert.deepEqual(await removeAll(root), []);
    assert.deepEqual(await readdir(root), []);
  });
});

describe('assertOwnFiles', () => {
  const [config] = FILES;
  assert.ok(config);

  it('accepts files that are missing, the same, or recorded', async (t) => {
    const root = await rootFor(t);
    await assertOwnFiles(root, FILES);
    await installAll(root);
    await assertOwnFiles(root, [{ ...config, text: 'other\n' }]);
  });

  it('rejects a file that fairlead did not write, and one that was changed', async (t) => {
    const root = await rootFor(t);
    await mkdir(join(root, 'etc/fairlead'), { recursive: true });
    await writeFile(below(root, CONFIG_FILE), 'mine\n');
    const rejected = { code: 'FILE_NOT_OURS', message: /config\.conf/, next: /--force/ };
    await assert.rejects(assertOwnFiles(root, FILES), rejected);
    await installAll(root);
    await writeFile(below(root, CONFIG_FILE), 'changed\n');
    await assert.rejects(assertOwnFiles(root, FILES), rejected);
  });
});

describe('the answer of off', () => {
  it('says in the first line what was done, and names files that were kept', () => {
    const page = offPage({ done: ['4 files removed'], kept: ['/etc/x'], isHere: true });
    assert.equal(
      page,
      'Fairlead is removed from this machine\n\n4 files removed\n\nkept, because they were changed since; delete them if you do not need them:\n/etc/x',
    );
  });

  it('says how to find an account that is not recorded', () => {
    const text = unknownAccountText({ app: 'fairlead', part: 'outside' });
    assert.match(text, /-l app=fairlead,part=outside$/);
  });

  it('has a command for each namespace', () => {
    const role = { apiVersion: 'v1', kind: 'Role', namespace: 'shop', name: 'f' };
    const all = { ...role, kind: 'ClusterRole', namespace: '' };
    const binding = { ...role, kind: 'RoleBinding' };
    assert.equal(
      deletionCommands([all, role, binding]),
      'kubectl delete -n shop rolebinding/f role/f\nkubectl delete clusterrole/f',
    );
  });
});
