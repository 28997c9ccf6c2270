import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { type ImageParts, imageArchive } from './archive.ts';
import { readTar } from './testing/read-tar.ts';

const PARTS: ImageParts = {
  name: 'localhost/fairlead:1.2.3',
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

async function open() {
  const files = new Map(
    readTar((await imageArchive(PARTS)).bytes).map(({ path, bytes }) => [path, bytes]),
  );
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
  const [one, other] = await Promise.all([imageArchive(PARTS), imageArchive(PARTS)]);
  assert.ok(one.bytes.equals(other.bytes));
});

test('the index leads to the layers, and every digest is true', async () => {
  const { json, blob } = await open();
  const [entry] = json('index.json').manifests;
  assert.equal(entry.annotations['io.containerd.image.name'], PARTS.name);
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
  const { json } = await open();
  const [manifest] = json('manifest.json');
  assert.deepEqual(manifest.RepoTags, [PARTS.name]);
  assert.equal(json(manifest.Config).architecture, 'amd64');
  assert.equal(manifest.Layers.length, 2);
});
