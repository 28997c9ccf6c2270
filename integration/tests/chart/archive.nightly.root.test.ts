import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { run } from '../../../lab/host/run.ts';
import { type Engines, provideEngines, ROOT } from './engines.ts';
import { objectsOf } from './objects.ts';

const BASE = ['--values', join(ROOT, 'deploy/chart/values/base.yaml')] as const;

/** As a release has it. */
describe('the archive of the chart', () => {
  let engines: Engines;
  let archive: string;
  before(async () => {
    engines = await provideEngines();
    archive = join(ROOT, (await makeArchive()).trim());
  });

  async function makeArchive(): Promise<string> {
    return await run([process.execPath, join(ROOT, 'tools/chart/main.ts'), '--archive']);
  }

  async function helm(...args: string[]): Promise<string> {
    const { exitCode, stdout, stderr } = await engines.tryHelm(args);
    assert.equal(exitCode, 0, `${stdout}${stderr}`);
    return stdout;
  }

  it('passes helm lint without a warning', async () => {
    const said = await helm('lint', '--strict', archive, ...BASE);
    assert.match(said, /1 chart\(s\) linted, 0 chart\(s\) failed/);
    assert.doesNotMatch(said, /WARNING|ERROR/);
  });

  it('has the version of the program', async () => {
    const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
    const chart = await helm('show', 'chart', archive);
    assert.match(chart, new RegExp(`^appVersion: ${version}$`, 'm'));
    assert.match(chart, new RegExp(`^version: ${version}$`, 'm'));
    assert.match(archive, new RegExp(`fairlead-${version}\\.tgz$`));
  });

  it('renders the same as its folder', async () => {
    const rendered = await helm('template', 'fairlead', archive, '-n', 'kube-system', ...BASE);
    assert.deepEqual(objectsOf(rendered), objectsOf(await engines.template(BASE)));
  });

  it('has the same bytes each time', async () => {
    const bytes = await readFile(archive);
    await makeArchive();
    assert.ok(bytes.equals(await readFile(archive)));
  });

  it('says after an install what to check first, and where metrics are', async () => {
    const install = ['install', 'fairlead', archive, '-n', 'kube-system', '--dry-run=client'];
    const notes = await helm(...install, ...BASE);
    assert.match(notes, /exec ds\/fairlead -c fairlead -- fairlead status/);
    assert.match(notes, /127\.0\.0\.1:10249.*Only the node itself/s);
    const open = await helm(...install, ...BASE, '--set', 'metrics.bindAddress=0.0.0.0:10249');
    assert.match(open, /http:\/\/0\.0\.0\.0:10249\/metrics/);
    assert.doesNotMatch(open, /Only the node itself/);
  });
});
