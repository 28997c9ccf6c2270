import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { run } from '../../host/run.ts';
import { provideImage } from './archive.ts';
import type { ImageDescription } from './description.ts';

const IMAGE: ImageDescription = {
  names: ['fairlead.test/one:1', 'fairlead.test/two:2'],
  programs: ['/usr/bin/env'],
  files: { '/data/self.ts': import.meta.filename },
  links: { '/bin/other': 'env' },
  texts: { '/etc/answer': '42\n' },
  entrypoint: ['/usr/bin/env'],
};

let folder = '';

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fairlead-images-'));
  process.env['FAIRLEAD_CACHE'] = folder;
});

after(() => rm(folder, { recursive: true }));

async function unpack(archive: string): Promise<string> {
  const into = await mkdtemp(join(folder, 'unpacked-'));
  await run(['tar', '-C', into, '-xf', archive]);
  return into;
}

test('the archive names the image and the digest of its layer', async () => {
  const unpacked = await unpack(await provideImage(IMAGE));
  const [manifest] = JSON.parse(await readFile(join(unpacked, 'manifest.json'), 'utf8'));
  const config = JSON.parse(await readFile(join(unpacked, manifest.Config), 'utf8'));
  const layer = await readFile(join(unpacked, manifest.Layers[0]));
  const digest = createHash('sha256').update(layer).digest('hex');
  assert.deepEqual(manifest.RepoTags, IMAGE.names);
  assert.deepEqual(config.rootfs.diff_ids, [`sha256:${digest}`]);
  assert.deepEqual(config.config.Entrypoint, IMAGE.entrypoint);
});

test('the root holds a program with its libraries, files, links and texts', async () => {
  const layer = join(await unpack(await provideImage(IMAGE)), 'layer.tar');
  const names = (await run(['tar', '-tf', layer])).split('\n');
  for (const name of ['./usr/bin/env', './data/self.ts', './usr/bin/other', './etc/answer']) {
    assert.ok(names.includes(name), name);
  }
  assert.ok(names.some((name) => name.endsWith('/libc.so.6')));
});

test('it is made once, and again when the description changes', async () => {
  const path = await provideImage(IMAGE);
  assert.equal(await provideImage(IMAGE), path);
  assert.notEqual(await provideImage({ ...IMAGE, texts: { '/etc/answer': '43\n' } }), path);
  const leftovers = (await readdir(join(folder, 'images'))).filter((n) => n.startsWith('making-'));
  assert.deepEqual(leftovers, []);
});
