import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { below, RECORD_FILE } from './paths.ts';
import {
  addToRecord,
  dropFromRecord,
  dropRecord,
  fileEntry,
  fileState,
  NOTHING_RECORDED,
  readRecord,
} from './record.ts';

const UNIT_FILE = '/etc/systemd/system/fairlead.service';
const ROLE = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'Role',
  namespace: 'shop',
  name: 'fairlead-db1',
};

async function rootFor(t: TestContext): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'fairlead-record-'));
  t.after(() => rm(root, { recursive: true }));
  return root;
}

async function writeRaw(root: string, text: string): Promise<void> {
  const path = below(root, RECORD_FILE);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

describe('the record', () => {
  it('is empty before anything was made', async (t) => {
    assert.deepEqual(await readRecord(await rootFor(t)), NOTHING_RECORDED);
  });

  it('collects what several commands add, each thing once', async (t) => {
    const root = await rootFor(t);
    await addToRecord(root, { files: [fileEntry(UNIT_FILE, 'a')], units: ['fairlead.service'] });
    await addToRecord(root, { units: ['fairlead.service'], links: ['fairlead0'], objects: [ROLE] });
    await addToRecord(root, { objects: [ROLE], server: 'https://api.example:6443' });
    assert.deepEqual(await readRecord(root), {
      ...NOTHING_RECORDED,
      files: [fileEntry(UNIT_FILE, 'a')],
      units: ['fairlead.service'],
      links: ['fairlead0'],
      objects: [ROLE],
      server: 'https://api.example:6443',
    });
  });

  it('removes what is gone, and keeps the rest', async (t) => {
    const root = await rootFor(t);
    const other = { ...ROLE, namespace: 'default' };
    await addToRecord(root, {
      files: [fileEntry(UNIT_FILE, 'a')],
      units: ['a.service', 'b.service'],
      links: ['fairlead0'],
      objects: [ROLE, other],
    });
    await dropFromRecord(root, {
      files: [UNIT_FILE],
      units: ['b.service'],
      links: ['fairlead0'],
      objects: [ROLE],
    });
    assert.deepEqual(await readRecord(root), {
      ...NOTHING_RECORDED,
      units: ['a.service'],
      objects: [other],
    });
  });

  it('can be read by its owner only, and leaves no temporary file', async (t) => {
    const root = await rootFor(t);
    await addToRecord(root, { units: ['fairlead.service'] });
    const path = below(root, RECORD_FILE);
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    assert.deepEqual(await readdir(dirname(path)), ['outside.json']);
  });

  it('says the version that wrote it', async (t) => {
    const root = await rootFor(t);
    await addToRecord(root, {});
    const written = JSON.parse(await readFile(below(root, RECORD_FILE), 'utf8'));
    assert.equal(written.version, 1);
  });

  it('rejects a version that it does not know, and leaves the file', async (t) => {
    const root = await rootFor(t);
    const text = '{"version": 2, "things": []}';
    await writeRaw(root, text);
    const rejected = { code: 'OUTSIDE_RECORD_VERSION', next: /version of fairlead that wrote it/ };
    await assert.rejects(readRecord(root), rejected);
    await assert.rejects(addToRecord(root, { units: ['a'] }), rejected);
    assert.equal(await readFile(below(root, RECORD_FILE), 'utf8'), text);
  });

  for (const text of ['', '{', '[]', '{"files": []}']) {
    it(`rejects ${JSON.stringify(text)}`, async (t) => {
      const root = await rootFor(t);
      await writeRaw(root, text);
      await assert.rejects(readRecord(root), { code: 'OUTSIDE_RECORD_INVALID' });
    });
  }

  it('is deleted, also when it does not exist', async (t) => {
    const root = await rootFor(t);
    await addToRecord(root, { units: ['fairlead.service'] });
    await dropRecord(root);
    await dropRecord(root);
    assert.deepEqual(await readRecord(root), NOTHING_RECORDED);
  });
});

describe('a recorded file', () => {
  it('is ours with each content that was recorded, and changed with any other', async (t) => {
    const root = await rootFor(t);
    await addToRecord(root, { files: [fileEntry('/conf', 'old')] });
    await addToRecord(root, { files: [fileEntry('/conf', 'new')] });
    const [entry] = (await readRecord(root)).files;
    assert.ok(entry);
    assert.equal(await fileState(root, entry), 'missing');
    for (const [text, state] of [
      ['old', 'ours'],
      ['new', 'ours'],
      ['newer', 'changed'],
    ] as const) {
      await writeFile(join(root, 'conf'), text);
      assert.equal(await fileState(root, entry), state);
    }
  });

  it('is ours with any content if Fairlead rewrites it as it runs', async (t) => {
    const root = await rootFor(t);
    await writeFile(join(root, 'token'), 'x');
    assert.equal(await fileState(root, { path: '/token', sha256: [] }), 'ours');
  });
});
