import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { missingOf } from './groups.ts';

describe('missingOf', () => {
  const earlier = { ...process.env };
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'fairlead-groups-'));
    process.env['FAIRLEAD_CACHE'] = join(folder, 'cache');
    delete process.env['KUBEBUILDER_ASSETS'];
  });
  after(async () => {
    process.env = earlier;
    await rm(folder, { recursive: true });
  });

  it('names every program of the lab and of the groups when the cache is empty, and builds none', async () => {
    const names = (await missingOf(['oracle', 'bench'])).map((title) => title.split(' ')[1]);
    for (const name of ['etcd', 'kube-apiserver', 'kube-proxy', 'oracle', 'bench']) {
      assert.ok(names.includes(name), `${name} is not among ${names}`);
    }
    assert.ok(!names.includes('e2e.test'));
    assert.equal(existsSync(join(folder, 'cache')), false);
  });
});
