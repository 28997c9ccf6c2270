import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { test } from 'node:test';
import { machineOf } from '../../image/machine.ts';
import { readPins } from '../../image/pins-file.ts';
import { type ImageFacts, spdxDocument } from './document.ts';
import { factsOf, type PackageFacts } from './facts.ts';
import { spdxId } from './spdx.ts';

const root = join(import.meta.dirname, '../../..');
const machine = machineOf(process.arch);

const ZOD: PackageFacts = {
  key: 'npm zod',
  name: 'zod',
  version: '4.0.0',
  license: 'MIT',
  supplier: 'NOASSERTION',
  refs: [],
};
const IMAGE: ImageFacts = {
  contents: {
    version: '1.2.3',
    bundled: ['zod'],
    runtime: [{ kind: 'folder', path: 'dev' }],
    program: [
      { kind: 'file', path: 'lib/b.mjs', bytes: Buffer.from('b') },
      { kind: 'link', path: 'bin/b', target: '../lib/b.mjs' },
      {
        kind: 'file',
        path: 'lib/a.bpf.o',
        bytes: Buffer.from('a'),
        license: 'MIT OR GPL-2.0-only',
      },
      { kind: 'file', path: 'licenses/zod', bytes: Buffer.from('z'), from: 'npm zod' },
    ],
  },
  packages: [ZOD],
  architecture: 'amd64',
  digest: `sha256:${'a'.repeat(64)}`,
  createdAtSeconds: 1_700_000_000,
};

const sha = (algorithm: string, text: string) => createHash(algorithm).update(text).digest('hex');

test('lists every file once, with its package, licence and hashes', () => {
  const { files, relationships } = spdxDocument(IMAGE);
  assert.deepEqual(
    files.map(({ fileName, licenseConcluded }) => [fileName, licenseConcluded]),
    [
      ['./lib/a.bpf.o', 'MIT OR GPL-2.0-only'],
      ['./lib/b.mjs', 'Apache-2.0'],
      ['./licenses/zod', 'MIT'],
    ],
  );
  assert.deepEqual(files[1]?.checksums, [
    { algorithm: 'SHA1', checksumValue: sha('sha1', 'b') },
    { algorithm: 'SHA256', checksumValue: sha('sha256', 'b') },
  ]);
  const owners = relationships
    .filter(({ relatedSpdxElement }) => relatedSpdxElement.startsWith('SPDXRef-File-'))
    .map(({ spdxElementId, relatedSpdxElement }) => [relatedSpdxElement, spdxElementId]);
  assert.deepEqual(owners.toSorted(), [
    [spdxId('File', 'lib/a.bpf.o'), 'SPDXRef-Package-fairlead'],
    [spdxId('File', 'lib/b.mjs'), 'SPDXRef-Package-fairlead'],
    [spdxId('File', 'licenses/zod'), 'SPDXRef-Package-npm-zod'],
  ]);
});

test('computes the verification code as the specification says', () => {
  const { packages } = spdxDocument(IMAGE);
  const own = packages.find(({ name }) => name === 'fairlead');
  const sums = [sha('sha1', 'a'), sha('sha1', 'b')].sort().join('');
  assert.equal(own?.packageVerificationCode?.packageVerificationCodeValue, sha('sha1', sums));
});

test('dates the document by the commit, and names it by the image', () => {
  const { creationInfo, documentNamespace } = spdxDocument(IMAGE);
  assert.equal(creationInfo.created, '2023-11-14T22:13:20Z');
  assert.match(documentNamespace, /fairlead-1\.2\.3-linux-amd64-a{64}$/);
});

test('says which code is in the bundle, and what made it', () => {
  const bundler: PackageFacts = { ...ZOD, key: 'npm esbuild', name: 'esbuild' };
  const { relationships } = spdxDocument({ ...IMAGE, packages: [ZOD, bundler] });
  const of = (id: string) =>
    relationships
      .filter(({ relatedSpdxElement, spdxElementId }) =>
        [relatedSpdxElement, spdxElementId].includes(id),
      )
      .map(({ relationshipType }) => relationshipType)
      .filter((type) => type !== 'CONTAINS');
  assert.deepEqual(of('SPDXRef-Package-npm-zod'), ['STATIC_LINK']);
  assert.deepEqual(of('SPDXRef-Package-npm-esbuild'), ['BUILD_TOOL_OF']);
});

test('rejects a file of a package that has no origin', () => {
  assert.throws(() => spdxDocument({ ...IMAGE, packages: [] }), /licenses\/zod is of npm zod/);
});

test('knows licence and version of every package that is pinned for this machine', async () => {
  const pins = (await readPins()).filter(({ architecture }) =>
    ['all', machine.architecture].includes(architecture),
  );
  const packages = join(root, 'node_modules');
  const facts = await factsOf(pins, { root, packages, machine });
  assert.equal(facts.length, pins.filter(({ kind }) => kind !== 'bpf').length);
  const node = facts.find(({ name }) => name === machine.nodePackage);
  assert.match(node?.refs.at(-1)?.referenceLocator ?? '', /^cpe:2\.3:a:nodejs:node\.js:24\./);
  for (const { key, license, downloadSha512 } of facts) {
    assert.match(license, /^[A-Za-z0-9. -]+$/, key);
    if (key.startsWith('npm ')) assert.match(downloadSha512 ?? '', /^[0-9a-f]{128}$/, key);
  }
});

test('stops at a Debian package whose licence nobody has read', async () => {
  const [pin] = await readPins();
  assert.ok(pin);
  const unknown = { ...pin, kind: 'debian', name: 'libevil' } as const;
  const sources = { root, packages: join(root, 'node_modules'), machine };
  await assert.rejects(async () => await factsOf([unknown], sources), {
    code: 'RELEASE_LICENSE_UNKNOWN',
  });
});
