import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { imageArchive, indexArchive } from './archive.ts';
import { buildImage, type ImageParts } from './build-image.ts';
import { readTar } from './testing/read-tar.ts';

const NAME = 'localhost/fairlead:1.2.3';
const PARTS: ImageParts = {
  version: '1.2.3',
  architecture: 'amd64',
  entrypoint: ['/program'],
  layers: [
    [{ kind: 'file', path: 'lib/a', bytes: Buffer.from('a') }],
    [{ kind: 'file', path: 'program', bytes: Buffer.from('p'), isExecutable: true }],
  ],
};

interface Descriptor {
  readonly digest: string;
  readonly size: number;
}

function open(archive: Buffer) {
  const files = new Map(readTar(archive).map(({ path, bytes }) => [path, bytes]));
  const json = (path: string) => JSON.parse(String(files.get(path)));
  const blob = ({ digest, size }: Descriptor) => {
    const bytes = files.get(`blobs/${digest.replace(':', '/')}`);
    assert.ok(bytes, digest);
    assert.equal(bytes.length, size);
    assert.equal(digest, sha256(bytes));
    return bytes;
  };
  return { json, blob };
}

function sha256(bytes: Buffer): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

test('same parts, same bytes', async () => {
  const [one, other] = await Promise.all([buildImage(PARTS), buildImage(PARTS)]);
  assert.ok(imageArchive(one, NAME).equals(imageArchive(other, NAME)));
});

test('the index leads to the layers, and every digest is true', async () => {
  const { json, blob } = open(imageArchive(await buildImage(PARTS), NAME));
  const [entry] = json('index.json').manifests;
  assert.equal(entry.annotations['io.containerd.image.name'], NAME);
  const manifest = JSON.parse(String(blob(entry)));
  const config = JSON.parse(String(blob(manifest.config)));
  const layers: Buffer[] = manifest.layers.map((layer: Descriptor) => gunzipSync(blob(layer)));
  assert.deepEqual(config.rootfs.diff_ids, layers.map(sha256));
  assert.deepEqual(config.config.Entrypoint, PARTS.entrypoint);
  assert.deepEqual(
    layers.map((layer) => readTar(layer).map(({ path }) => path)),
    [['lib/', 'lib/a'], ['program']],
  );
});

test('docker finds the same parts', async () => {
  const { json } = open(imageArchive(await buildImage(PARTS), NAME));
  const [manifest] = json('manifest.json');
  assert.deepEqual(manifest.RepoTags, [NAME]);
  assert.equal(json(manifest.Config).architecture, 'amd64');
  assert.equal(manifest.Layers.length, 2);
});

test('an index for two machines leads to the image of each, under one digest', async () => {
  const images = await Promise.all(
    ['amd64', 'arm64'].map((architecture) => buildImage({ ...PARTS, architecture })),
  );
  const { bytes, digest } = indexArchive(images, NAME);
  const { json, blob } = open(bytes);
  const [entry, ...others] = json('index.json').manifests;
  assert.deepEqual(others, []);
  assert.deepEqual([entry.digest, entry.annotations['io.containerd.image.name']], [digest, NAME]);
  const { manifests } = JSON.parse(String(blob(entry)));
  const configs = manifests.map((each: Descriptor) => {
    const { config } = JSON.parse(String(blob(each)));
    return JSON.parse(String(blob(config))).architecture;
  });
  assert.deepEqual(configs, ['amd64', 'arm64']);
  assert.deepEqual(
    manifests.map(({ platform }: { platform: object }) => platform),
    ['amd64', 'arm64'].map((architecture) => ({ architecture, os: 'linux' })),
  );
});

test('docker load, which knows no index, gets the image of each machine under a tag of its own', async () => {
  const images = await Promise.all(
    ['amd64', 'arm64'].map((architecture) => buildImage({ ...PARTS, architecture })),
  );
  const { json } = open(indexArchive(images, NAME).bytes);
  const entries: { Config: string; RepoTags: string[] }[] = json('manifest.json');
  assert.deepEqual(
    entries.map(({ Config, RepoTags }) => [json(Config).architecture, RepoTags]),
    [
      ['amd64', [`${NAME}-amd64`]],
      ['arm64', [`${NAME}-arm64`]],
    ],
  );
});
