import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { type Contents, PROGRAM_PATH, readContents } from './contents.ts';
import { readLinkage } from './elf.ts';
import { machineOf } from './machine.ts';
import { tar } from './tar.ts';

const root = join(import.meta.dirname, '../..');
const machine = machineOf(process.arch);

const LIBRARY = /^(?:usr\/)?lib(?:64)?\/(?:.*\/)?([^/]+\.so\.\d+)$/;
const LICENSE = /^usr\/local\/share\/licenses\//;

describe('the image', () => {
  let contents: Contents;
  before(async () => {
    contents = await readContents(root, machine);
  });

  it('has Node, the libraries it needs, and no other program', () => {
    const paths = contents.runtime.map(({ path }) => path);
    const libraries = paths.map((path) => LIBRARY.exec(path)?.[1]).filter((name) => name);
    const loader = libraries.find((name) => name?.startsWith('ld-linux'));
    assert.ok(loader);
    assert.deepEqual(
      libraries.toSorted(),
      [
        loader,
        'libc.so.6',
        'libdl.so.2',
        'libgcc_s.so.1',
        'libm.so.6',
        'libpthread.so.0',
        'libstdc++.so.6',
      ].toSorted(),
    );
    assert.deepEqual(paths.filter((path) => !LIBRARY.test(path)).toSorted(), [
      'dev',
      'etc/group',
      'etc/nsswitch.conf',
      'etc/passwd',
      'proc',
      'run/fairlead',
      'sys',
      'usr/local/bin/node',
      'var/lib/kube-proxy',
    ]);
  });

  it('has the loader where Node asks for it', async () => {
    const node = await readFile(join(root, 'node_modules/node/bin/node'));
    const { interpreter, needed } = readLinkage(node, 'node');
    const paths = contents.runtime.map(({ path }) => `/${path}`);
    assert.ok(interpreter !== undefined && paths.includes(interpreter), interpreter);
    assert.ok(needed.includes('libc.so.6'));
  });

  it('has Fairlead, koffi for one machine, and licences', () => {
    const paths = contents.program.map(({ path }) => path);
    const home = 'usr/local/lib/fairlead';
    const koffi = `${home}/node_modules/koffi`;
    const binary = `${home}/node_modules/${machine.koffiPackage}`;
    assert.deepEqual(paths.filter((path) => !LICENSE.test(path)).toSorted(), [
      PROGRAM_PATH.slice(1),
      `${home}/fairlead.mjs`,
      `${binary}/index.js`,
      `${binary}/${machine.koffiFolder}/koffi.node`,
      `${binary}/package.json`,
      `${koffi}/index.js`,
      `${koffi}/package.json`,
      `${koffi}/src/koffi/index.js`,
      `${koffi}/src/koffi/src/static.js`,
    ]);
    for (const name of ['fairlead', 'koffi/LICENSE.txt', 'zod/LICENSE', 'pino/LICENSE']) {
      assert.ok(paths.includes(`usr/local/share/licenses/${name}`), name);
    }
  });

  it('starts Fairlead with the Node that is in it', () => {
    const program = contents.program.find(({ path }) => path.endsWith('fairlead.mjs'));
    assert.ok(program?.kind === 'file' && program.isExecutable);
    const [first] = Buffer.from(program.bytes.subarray(0, 100)).toString().split('\n');
    assert.equal(first, '#!/usr/local/bin/node --max-semi-space-size=4');
  });

  it('is the same when it is made again', async () => {
    const again = await readContents(root, machine);
    assert.ok(tar(contents.program).equals(tar(again.program)));
  });

  it('is what the Dockerfile says of it', async () => {
    const dockerfile = await readFile(join(root, 'deploy/Dockerfile'), 'utf8');
    assert.ok(dockerfile.includes(`ENTRYPOINT ["${PROGRAM_PATH}"]`));
    assert.ok(dockerfile.includes('npm run image -- --tree /image\n'));
  });
});
