import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { ebpfPlaces } from './off-steps.ts';
import { CONFIG_FILE } from './paths.ts';

const HEAD = 'apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\n';
const USUAL = '/sys/fs/bpf/fairlead';

async function rootWith(t: TestContext, config: string | undefined): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'fairlead-places-'));
  t.after(() => rm(root, { recursive: true }));
  if (config === undefined) return root;
  await mkdir(dirname(join(root, CONFIG_FILE)), { recursive: true });
  await writeFile(join(root, CONFIG_FILE), config);
  return root;
}

it('has the places of the configuration', async (t) => {
  const fairlead = 'fairlead:\n  pinFolder: /sys/fs/bpf/other\n  cgroup: /sys/fs/cgroup/part\n';
  const { pinFolder, cgroupPath } = await ebpfPlaces(await rootWith(t, HEAD + fairlead));
  assert.deepEqual(
    { pinFolder, cgroupPath },
    {
      pinFolder: '/sys/fs/bpf/other',
      cgroupPath: '/sys/fs/cgroup/part',
    },
  );
});

it('has the usual places without a configuration', async (t) => {
  assert.equal((await ebpfPlaces(await rootWith(t, undefined))).pinFolder, USUAL);
  assert.equal((await ebpfPlaces(await rootWith(t, HEAD))).pinFolder, USUAL);
});

it('has the usual places with an invalid configuration, and says so', async (t) => {
  const { mock } = t.mock.method(console, 'error', () => undefined);
  assert.equal((await ebpfPlaces(await rootWith(t, `${HEAD}nonsense: {`))).pinFolder, USUAL);
  assert.match(String(mock.calls[0]?.arguments[0]), /config\.conf is invalid/);
});
