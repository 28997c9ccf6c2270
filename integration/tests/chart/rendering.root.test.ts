import assert from 'node:assert/strict';
import { appendFile, cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { differences } from './differences.ts';
import { type Engines, provideEngines, ROOT } from './engines.ts';
import { objectsOf } from './objects.ts';

const VALUES = join(ROOT, 'deploy/chart/values');

/** How deploy/ is used for the same: what docs/install.md says to write into config.conf, and what to apply. */
interface Manifests {
  readonly apply: string;
  readonly added?: string;
  readonly replaced?: readonly [from: string, to: string];
}

const CASES: Readonly<Record<string, Manifests>> = {
  'base.yaml': { apply: 'manifests' },
  'ebpf.yaml': { apply: 'ebpf', added: 'fairlead:\n  mode: socket-ebpf\n' },
  'userspace.yaml': { apply: 'userspace', added: 'fairlead:\n  mode: userspace\n' },
  'iptables-legacy.yaml': {
    apply: 'iptables-legacy',
    replaced: ['mode: nftables', 'mode: iptables'],
  },
  'unprivileged.yaml': { apply: 'unprivileged' },
  'leftovers-fairlead.yaml': { apply: 'leftovers/fairlead.yaml' },
  'leftovers-kube-proxy.yaml': { apply: 'leftovers/kube-proxy.yaml' },
};

describe('the chart', () => {
  let folder: string;
  let engines: Engines;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'fairlead-chart-'));
    engines = await provideEngines();
  });
  after(() => rm(folder, { recursive: true }));

  it('has a comparison for each file of values', async () => {
    assert.deepEqual((await readdir(VALUES)).sort(), Object.keys(CASES).sort());
  });

  for (const [values, manifests] of Object.entries(CASES)) {
    it(`with values/${values} renders every field as deploy/${manifests.apply}`, async () => {
      const rendered = await engines.template(['--values', join(VALUES, values)]);
      const expected = objectsOf(await render(manifests));
      assert.ok(expected.size > 0);
      const found = differences(expected, objectsOf(rendered));
      assert.equal(found.length, 0, `${found.length} fields differ:\n${found.join('\n')}`);
    });
  }

  async function render({ apply, added, replaced }: Manifests): Promise<string> {
    const deploy = join(folder, apply.replaceAll('/', '-'));
    await cp(join(ROOT, 'deploy'), deploy, { recursive: true });
    const config = join(deploy, 'manifests/config.conf');
    if (added !== undefined) await appendFile(config, added);
    if (replaced !== undefined) {
      const text = await readFile(config, 'utf8');
      assert.ok(text.includes(replaced[0]), `${config} has no ${replaced[0]}`);
      await writeFile(config, text.replace(...replaced));
    }
    const path = join(deploy, apply);
    return apply.endsWith('.yaml') ? await readFile(path, 'utf8') : await engines.kustomize(path);
  }
});
