import assert from 'node:assert/strict';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { run } from '../../lab/host/run.ts';

const root = join(import.meta.dirname, '../..');

/** As `npm install` leaves it in an empty folder, without a registry to ask for koffi. */
describe('the npm package', () => {
  let folder: string;
  let installed: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'fairlead-package-'));
    await run([process.execPath, join(root, 'tools/package.ts')]);
    await run(['npm', 'pack', '--pack-destination', folder, join(root, 'dist/package')]);
    const [archive = ''] = await readdir(folder);
    await run(['tar', '-xzf', join(folder, archive), '-C', folder]);
    installed = join(folder, 'node_modules/fairlead');
    await mkdir(join(folder, 'node_modules/.bin'), { recursive: true });
    await cp(join(folder, 'package'), installed, { recursive: true });
    await symlink('../fairlead/fairlead.mjs', join(folder, 'node_modules/.bin/fairlead'));
    for (const name of ['koffi', '@koromix']) {
      await cp(join(root, 'node_modules', name), join(folder, 'node_modules', name), {
        recursive: true,
      });
    }
  });
  after(() => rm(folder, { recursive: true }));

  it('asks for koffi and for nothing that is in it already', async () => {
    const { dependencies, devDependencies } = JSON.parse(
      await readFile(join(installed, 'package.json'), 'utf8'),
    );
    assert.deepEqual([Object.keys(dependencies), devDependencies], [['koffi'], undefined]);
  });

  it('starts where nothing else is installed', async () => {
    const program = join(folder, 'node_modules/.bin/fairlead');
    const help = await run([process.execPath, program, '--help'], { cwd: folder });
    assert.match(help, /^Usage: fairlead/);
    const manifests = join(root, 'deploy/manifests/service-account.yaml');
    await run([process.execPath, program, 'services', '-f', manifests], { cwd: folder });
  });

  it('has the programs for the kernel beside its bundle, and needs no compiler', async () => {
    const objects = await readdir(join(installed, 'bpf'));
    assert.ok(objects.includes('sock.bpf.o'));
    assert.deepEqual(
      objects.filter((name) => !name.endsWith('.bpf.o')),
      [],
    );
  });

  it('has the licences of the code in its bundle', async () => {
    const names = await readdir(join(installed, 'licenses'));
    for (const name of ['commander', 'pino', 'yaml', 'zod']) assert.ok(names.includes(name), name);
    await readFile(join(installed, 'LICENSE'));
  });
});
