import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { silentProgress } from '../../../lab/host/progress.ts';
import { run } from '../../../lab/host/run.ts';
import { provideTool } from '../../../lab/parts/build.ts';

const root = join(import.meta.dirname, '../../..');
const RELEASE_MS = 340_000;
const IMAGE = 'registry.example/fairlead';

/** Made twice by its command; then used as its reader would. */
describe('the release', () => {
  let folder: string;
  let release: string;
  let told: string;
  let version: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'fairlead-release-test-'));
    release = join(folder, 'release');
    ({ version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')));
    const kubectl = await provideTool('kubectl', { progress: silentProgress });
    const args = ['--twice', '--out', release, '--image', IMAGE, '--kubectl', kubectl];
    told = await run([process.execPath, join(root, 'tools/release/main.ts'), ...args], {
      cwd: root,
      deadlineMs: RELEASE_MS,
    });
  });
  after(() => rm(folder, { recursive: true }));

  it('has the same bytes when it is made again, and sums that are true', async () => {
    assert.match(told, /^made twice: the same bytes$/m);
    await run(['sha256sum', '--check', '--strict', '--quiet', 'SHA256SUMS'], { cwd: release });
  });

  it('has an image for each machine, under the digest that it names', async () => {
    const layout = join(folder, 'layout');
    await run(['mkdir', layout]);
    await run(['tar', '-xf', join(release, `fairlead-${version}-image.tar`), '-C', layout]);
    const digest = (
      await readFile(join(release, `fairlead-${version}-image.digest`), 'utf8')
    ).trim();
    const index = JSON.parse(
      await readFile(join(layout, 'blobs', digest.replace(':', '/')), 'utf8'),
    ) as { manifests: { digest: string; platform: { architecture: string } }[] };
    assert.deepEqual(
      index.manifests.map(({ platform }) => platform.architecture),
      ['amd64', 'arm64'],
    );
    for (const { digest: image, platform } of index.manifests) {
      const name = `fairlead-${version}-linux-${platform.architecture}.spdx.json`;
      const document = JSON.parse(await readFile(join(release, name), 'utf8'));
      assert.equal(`sha256:${document.packages[0].checksums[0].checksumValue}`, image);
    }
  });

  it('has a package that installs without a registry, and starts', async () => {
    await writeFile(join(folder, 'package.json'), '{}');
    const nowhere = ['--registry', 'http://127.0.0.1:9/', '--fetch-retries', '0'];
    const tarball = join(release, `fairlead-${version}.tgz`);
    await run(['npm', 'install', '--cache', join(folder, 'cache'), ...nowhere, tarball], {
      cwd: folder,
    });
    const program = join(folder, 'node_modules/.bin/fairlead');
    assert.equal(await run([process.execPath, program, '--version']), `fairlead ${version}\n`);
  });

  it('has manifests that start its image', async () => {
    const text = await readFile(join(release, `fairlead-${version}.yaml`), 'utf8');
    const objects = parseAllDocuments(text).map((each) => each.toJS());
    const daemonSet = objects.find(({ kind }) => kind === 'DaemonSet');
    const images = daemonSet.spec.template.spec.containers.map(
      (container: { image: string }) => container.image,
    );
    assert.deepEqual(images, [`${IMAGE}:${version}`]);
  });
});
