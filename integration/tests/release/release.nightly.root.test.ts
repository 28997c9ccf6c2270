import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parseAllDocuments } from 'yaml';
import type { ApiClient } from '../../../lab/api/client.ts';
import type { KubeObject } from '../../../lab/api/objects.ts';
import { enterNamespace, namespacePath } from '../../../lab/host/namespaces.ts';
import { silentProgress } from '../../../lab/host/progress.ts';
import { run } from '../../../lab/host/run.ts';
import { until } from '../../../lab/host/until.ts';
import { provideTool } from '../../../lab/parts/build.ts';
import { startRealCluster } from '../../../lab/real/cluster.ts';
import { REGISTRY } from '../../../lab/real/plan.ts';
import { startDocker } from './docker.ts';
import { startRegistry } from './registry.ts';
import { pulledProxy, releasedProxy } from './released-proxy.ts';

const root = join(import.meta.dirname, '../../..');
const RELEASE_MS = 340_000;
const COPY_MS = 120_000;
const READY_MS = 60_000;
const IMAGE = 'registry.example/fairlead';
const PODS =
  '/api/v1/namespaces/kube-system/pods?labelSelector=app.kubernetes.io%2Fname%3Dfairlead';

interface Index {
  readonly manifests: readonly {
    readonly digest: string;
    readonly platform: { readonly architecture: string };
  }[];
}

interface PodList extends KubeObject {
  readonly items: readonly {
    readonly status: { readonly containerStatuses?: readonly ContainerStatus[] };
  }[];
}

interface ContainerStatus {
  readonly ready: boolean;
  readonly image: string;
  readonly imageID: string;
}

async function blobIn<T>(layout: string, digest: string): Promise<T> {
  return JSON.parse(await readFile(join(layout, 'blobs', digest.replace(':', '/')), 'utf8')) as T;
}

/** The agent has synced when the cluster is up; the kubelet asks and tells a moment later. */
async function readyContainers(
  api: ApiClient,
  of: { readonly count: number; readonly signal: AbortSignal },
): Promise<readonly ContainerStatus[]> {
  const ask = async (): Promise<readonly ContainerStatus[] | undefined> => {
    const { items } = await api.get<PodList>(PODS);
    const containers = items.flatMap(({ status }) => status.containerStatuses ?? []);
    const isReady = containers.length === of.count && containers.every(({ ready }) => ready);
    return isReady ? containers : undefined;
  };
  const what = `${of.count} pods of Fairlead to be ready`;
  return await until(ask, { what, deadlineMs: READY_MS, everyMs: 200, signal: of.signal });
}

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

  async function unpackedLayout(): Promise<string> {
    const layout = await mkdtemp(join(folder, 'layout-'));
    await run(['tar', '-xf', imageFile(), '-C', layout]);
    return layout;
  }

  async function indexDigest(): Promise<string> {
    return (await readFile(join(release, `fairlead-${version}-image.digest`), 'utf8')).trim();
  }

  const imageFile = () => join(release, `fairlead-${version}-image.tar`);

  it('has the same bytes when it is made again, and sums that are true', async () => {
    assert.match(told, /^made twice: the same bytes$/m);
    await run(['sha256sum', '--check', '--strict', '--quiet', 'SHA256SUMS'], { cwd: release });
  });

  it('has an image for each machine, under the digest that it names', async () => {
    const layout = await unpackedLayout();
    const index = await blobIn<Index>(layout, await indexDigest());
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

  it('starts on real kubelets from its own files: the index, and the manifests', async (t) => {
    const proxy = releasedProxy({ release, version });
    // The cluster is up when the agent of each node has written both families, and CoreDNS, which asks
    // the API server at its Service address, is ready.
    await using cluster = await startRealCluster({ nodeCount: 2, proxy, signal: t.signal });
    const containers = await readyContainers(cluster.api, { count: 2, signal: t.signal });
    assert.deepEqual(
      containers.map(({ image }) => image),
      Array(2).fill(`${IMAGE}:${version}`),
    );
    // containerd names an image that it has not pulled by its configuration.
    const layout = await unpackedLayout();
    const index = await blobIn<Index>(layout, await indexDigest());
    const amd64 = index.manifests.find(({ platform }) => platform.architecture === 'amd64');
    const { config } = await blobIn<{ config: { digest: string } }>(layout, amd64?.digest ?? '');
    for (const { imageID } of containers) assert.equal(imageID, config.digest);
  });

  it('is pulled by a real kubelet from a registry, under the digest that it names', async (t) => {
    const name = `p${randomBytes(3).toString('hex')}`;
    const fabric = namespacePath({ lab: name, role: 'fabric' });
    const to = `${REGISTRY}/fairlead`;
    const push = async () => {
      const folder = await mkdtemp(join(tmpdir(), 'fairlead-registry-test-'));
      t.after(() => rm(folder, { recursive: true }));
      await startRegistry({ namespacePath: fabric, folder, signal: t.signal });
      const options = ['--all', '--preserve-digests', '--dest-tls-verify=false'];
      const places = [`oci-archive:${imageFile()}`, `docker://${to}:${version}`];
      const copy = ['skopeo', 'copy', ...options, ...places] as const;
      await run(enterNamespace(fabric, copy), { deadlineMs: COPY_MS });
    };
    const proxy = pulledProxy({ release, version, from: IMAGE, to, push });
    await using cluster = await startRealCluster({ name, nodeCount: 1, proxy, signal: t.signal });
    const containers = await readyContainers(cluster.api, { count: 1, signal: t.signal });
    assert.deepEqual(
      containers.map(({ image, imageID }) => ({ image, imageID })),
      [{ image: `${to}:${version}`, imageID: `${to}@${await indexDigest()}` }],
    );
  });

  it('is loaded by podman, and by Docker with the machine in its tag', async (t) => {
    const storage = join(folder, 'podman');
    const podman = ['podman', '--root', storage, '--runroot', `${storage}-run`] as const;
    const load = [...podman, '--storage-driver', 'vfs', 'load', '--input', imageFile()] as const;
    assert.match(await run(load, { deadlineMs: COPY_MS }), new RegExp(`: ${IMAGE}:${version}\\n$`));
    await using docker = await startDocker({ folder: join(folder, 'docker'), signal: t.signal });
    assert.equal(
      await docker.run('load', '--quiet', '--input', imageFile()),
      ['amd64', 'arm64']
        .map((machine) => `Loaded image: ${IMAGE}:${version}-${machine}\n`)
        .join(''),
    );
    const told = ['image', 'inspect', '--format', '{{.Architecture}}'] as const;
    assert.equal(await docker.run(...told, `${IMAGE}:${version}-arm64`), 'arm64\n');
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
