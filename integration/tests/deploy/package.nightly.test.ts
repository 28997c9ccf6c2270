import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { run } from '../../../lab/host/run.ts';

const root = join(import.meta.dirname, '../../..');

/** As `npm install` leaves it in an empty folder, without a registry to ask. */
describe('the npm package', () => {
  let folder: string;
  let installed: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'fairlead-package-'));
    await run([process.execPath, join(root, 'tools/package.ts')]);
    await run(['npm', 'pack', '--pack-destination', folder, join(root, 'dist/package')]);
    const [archive = ''] = await readdir(folder);
    await writeFile(join(folder, 'package.json'), '{}');
    const cache = ['--cache', join(folder, 'cache')];
    // Nothing listens there: what is not in the package cannot be had.
    const registry = ['--registry', 'http://127.0.0.1:9/', '--fetch-retries', '0'];
    // As for a user, whatever this project's own .npmrc says.
    const scripts = '--ignore-scripts=false';
    await run(['npm', 'install', scripts, ...cache, ...registry, join(folder, archive)], {
      cwd: folder,
    });
    installed = join(folder, 'node_modules/fairlead');
  });
  after(() => rm(folder, { recursive: true }));

  it('asks for koffi alone, and has it', async () => {
    const { dependencies, bundleDependencies, devDependencies } = JSON.parse(
      await readFile(join(installed, 'package.json'), 'utf8'),
    );
    const koffiPackage = `@koromix/koffi-linux-${process.arch}`;
    assert.deepEqual(Object.keys(dependencies), ['koffi', koffiPackage]);
    assert.deepEqual([bundleDependencies, devDependencies], [['koffi', koffiPackage], undefined]);
    assert.deepEqual(await readdir(join(folder, 'node_modules')), [
      '.bin',
      '.package-lock.json',
      'fairlead',
    ]);
  });

  it('starts where nothing else is installed', async () => {
    const program = join(folder, 'node_modules/.bin/fairlead');
    const help = await run([process.execPath, program, '--help'], { cwd: folder });
    assert.match(help, /^Usage: fairlead/);
    const plugin = join(folder, 'node_modules/.bin/kubectl-fairlead');
    assert.match(await run([process.execPath, plugin, '--help']), /^Usage: kubectl fairlead/);
    const manifests = join(root, 'deploy/manifests/service-account.yaml');
    await run([process.execPath, program, 'services', '-f', manifests], { cwd: folder });
  });

  it('has the page of `fairlead view` beside its bundle', async () => {
    const names = await readdir(join(installed, 'view'));
    for (const name of ['index.html', 'main.ts', 'theme.css'])
      assert.ok(names.includes(name), name);
    const script = await readFile(join(installed, 'view/main.ts'), 'utf8');
    assert.doesNotMatch(script, /^import type /m);
  });

  it('has the programs for the kernel beside its bundle, and needs no compiler', async () => {
    const objects = await readdir(join(installed, 'bpf'));
    assert.ok(objects.includes('sock.bpf.o'));
    assert.deepEqual(
      objects.filter((name) => !name.endsWith('.bpf.o')),
      [],
    );
  });

  it('has completions, and manual pages where npm looks for them', async () => {
    const { man } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'));
    assert.ok(man.includes('man/fairlead-run.8'));
    for (const path of man) assert.match(await readFile(join(installed, path), 'utf8'), /^\.TH /);
    assert.deepEqual((await readdir(join(installed, 'completions'))).sort(), [
      '_fairlead',
      'fairlead.bash',
      'fairlead.fish',
    ]);
  });

  it('has the licences of the code in its bundle', async () => {
    const names = await readdir(join(installed, 'licenses'));
    for (const name of ['commander', 'koffi', 'yaml', 'zod']) assert.ok(names.includes(name), name);
    await readFile(join(installed, 'LICENSE'));
  });
});
