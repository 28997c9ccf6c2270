import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { differences } from './differences.ts';
import { type Engines, provideEngines, ROOT, templateCommand } from './engines.ts';
import { objectsOf } from './objects.ts';

const VALUES = join(ROOT, 'deploy/chart/values');
const CHART = join(ROOT, 'deploy/chart/fairlead');

/** Helm 4 is compared with kustomize, field by field, in rendering.root.test.ts. */
describe('the chart with Helm 3', () => {
  let helm3: Engines;
  let helm4: Engines;
  before(async () => {
    helm3 = await provideEngines(3);
    helm4 = await provideEngines(4);
  });

  for (const values of readdirSync(VALUES)) {
    it(`with values/${values} renders what Helm 4 renders`, async () => {
      const args = ['--values', join(VALUES, values)];
      const expected = objectsOf(await helm4.template(args));
      assert.ok(expected.size > 0);
      assert.deepEqual(differences(expected, objectsOf(await helm3.template(args))), []);
    });
  }

  it('passes helm lint without a warning', async () => {
    const base = ['--values', join(VALUES, 'base.yaml')];
    const linted = await helm3.tryHelm(['lint', '--strict', CHART, ...base]);
    assert.equal(linted.exitCode, 0, `${linted.stdout}${linted.stderr}`);
    assert.doesNotMatch(linted.stdout, /WARNING|ERROR/);
  });

  it('rejects a value that the schema does not know, by its name', async () => {
    const wrong = ['--set', 'apiServer.host=10.0.0.1', '--set', 'mdoe=nftables'];
    const rejected = await helm3.tryHelm(templateCommand(wrong));
    assert.notEqual(rejected.exitCode, 0);
    assert.match(rejected.stderr, /mdoe/);
  });
});
