import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { kubeconfigFiles } from './open-source.ts';

async function home(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-home-'));
  t.after(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, '.kube'));
  const own = join(folder, '.kube/config');
  const other = join(folder, 'other');
  for (const path of [own, other]) await writeFile(path, '');
  return { folder, own, other, missing: join(folder, 'missing') };
}

describe('without a named kubeconfig', () => {
  it('uses $KUBECONFIG first, without its missing files', async (t) => {
    const { folder, own, other, missing } = await home(t);
    const files = (KUBECONFIG: string) => kubeconfigFiles({ env: { KUBECONFIG }, home: folder });
    assert.deepEqual(files(`${missing}:${other}::${own}`), [other, own]);
    assert.deepEqual(files(missing), [missing]);
  });

  it('uses the file in the home after the service account of a pod', async (t) => {
    const { folder, own } = await home(t);
    assert.deepEqual(kubeconfigFiles({ env: { KUBECONFIG: '' }, home: folder }), [own]);
    const env = { KUBERNETES_SERVICE_HOST: '10.96.0.1' };
    assert.deepEqual(kubeconfigFiles({ env, home: folder }), []);
  });

  it('does not search the home for a long-running process', async (t) => {
    const { folder } = await home(t);
    assert.deepEqual(kubeconfigFiles({ env: {}, home: undefined }), []);
    assert.deepEqual(kubeconfigFiles({ env: {}, home: join(folder, 'nobody') }), []);
  });
});
