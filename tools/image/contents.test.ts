import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { before, describe, it } from 'node:test';
import { programSources } from '../bpf/objects.ts';
import { viewPage } from '../view-page.ts';
import { BPF_LICENSE, type Contents, PROGRAM_PATH, readContents } from './contents.ts';
import { readLinkage } from './elf.ts';
import { ingredientsHere } from './ingredients.ts';
import { pinProblems } from './pins.ts';
import { readPins } from './pins-file.ts';
import { bundleProgram, FORWARDER_ENTRY, MAIN_ENTRY } from './program.ts';
import { tar } from './tar.ts';

const root = join(import.meta.dirname, '../..');
const { machine } = ingredientsHere(root);

const LIBRARY = /^(?:usr\/)?lib(?:64)?\/(?:.*\/)?([^/]+\.so\.\d+)$/;
const EXTENSION = /^usr\/lib\/.*xtables\/([^/]+)\.so$/;
/** Licences, and what dpkg knows. */
const PAPER = /^(?:usr\/share|usr\/local\/share|var\/lib\/dpkg)\//;
const NODE_LIBRARIES = [
  'libc.so.6',
  'libdl.so.2',
  'libgcc_s.so.1',
  'libm.so.6',
  'libpthread.so.0',
  'libstdc++.so.6',
];
const IPTABLES_LIBRARIES = [
  'libip4tc.so.2',
  'libip6tc.so.2',
  'libmnl.so.0',
  'libnetfilter_conntrack.so.3',
  'libnfnetlink.so.0',
  'libnftnl.so.11',
  'libxtables.so.12',
];
const LICENSE = /^usr\/local\/share\/licenses\//;

describe('the image', () => {
  let contents: Contents;
  before(async () => {
    contents = await readContents(root, ingredientsHere(root));
  });

  it('has Node, iptables, the libraries they need, and no other program', () => {
    const paths = contents.runtime.map(({ path }) => path).filter((path) => !PAPER.test(path));
    const libraries = paths.map((path) => LIBRARY.exec(path)?.[1]).filter((name) => name);
    const loader = libraries.find((name) => name?.startsWith('ld-linux'));
    assert.ok(loader);
    assert.deepEqual(
      libraries.toSorted(),
      [loader, ...NODE_LIBRARIES, ...IPTABLES_LIBRARIES].toSorted(),
    );
    const others = paths.filter((path) => !LIBRARY.test(path) && !EXTENSION.test(path));
    assert.deepEqual(others.toSorted(), [
      'dev',
      'etc/group',
      'etc/nsswitch.conf',
      'etc/passwd',
      'proc',
      'run/fairlead',
      'run/netns',
      'sys',
      'usr/local/bin/node',
      'usr/local/bin/xtables-legacy-multi',
      'usr/local/bin/xtables-nft-multi',
      'var/lib/kube-proxy',
    ]);
  });

  it('has every extension of iptables, where the programs look for it', () => {
    const names = contents.runtime.map(({ path }) => EXTENSION.exec(path)?.[1]);
    for (const name of ['libxt_comment', 'libxt_MASQUERADE', 'libxt_recent', 'libxt_set']) {
      assert.ok(names.includes(name), name);
    }
    const program = contents.runtime.find(({ path }) => path.endsWith('xtables-nft-multi'));
    const extension = contents.runtime.find(({ path }) => EXTENSION.test(path));
    assert.ok(program?.kind === 'file' && program.isExecutable && extension);
    const library = contents.runtime.find(({ path }) => path.includes('libxtables.so'));
    assert.ok(library?.kind === 'file');
    const folder = extension.path.slice(0, extension.path.lastIndexOf('/'));
    assert.ok(Buffer.from(library.bytes).includes(`/${folder}\0`), folder);
  });

  it('says of everything in it whose it is, in which version and under which licence', () => {
    const paths = contents.runtime.map(({ path }) => path);
    assert.ok(paths.includes('usr/local/share/licenses/node'));
    for (const name of ['libc6', 'libstdc++6', 'iptables', 'libmnl0']) {
      assert.ok(paths.includes(`usr/share/doc/${name}/copyright`), name);
      const entry = contents.runtime.find(({ path }) => path === `var/lib/dpkg/status.d/${name}`);
      assert.ok(entry?.kind === 'file');
      assert.match(Buffer.from(entry.bytes).toString(), /^Package: .*^Version: \d/ms);
    }
    for (const name of ['GPL-2', 'LGPL-2.1', 'GPL-3']) {
      assert.ok(paths.includes(`usr/share/common-licenses/${name}`), name);
    }
  });

  it('has the loader where Node asks for it', async () => {
    const node = await readFile(join(root, 'node_modules', machine.nodePackage, 'bin/node'));
    const { interpreter, needed } = readLinkage(node, 'node');
    const paths = contents.runtime.map(({ path }) => `/${path}`);
    assert.ok(interpreter !== undefined && paths.includes(interpreter), interpreter);
    assert.ok(needed.includes('libc.so.6'));
  });

  it('has the page of `fairlead view`, with scripts that a browser runs', async () => {
    const folder = 'usr/local/lib/fairlead/view/';
    const files = contents.program.filter(({ path }) => path.startsWith(folder));
    const names = files.map(({ path }) => path.slice(folder.length));
    for (const name of ['index.html', 'page-main.ts', 'theme.css'])
      assert.ok(names.includes(name), name);
    assert.deepEqual(
      names.filter((name) => /test|json|README/.test(name)),
      [],
    );
    for (const file of files) {
      assert.ok(file.kind === 'file');
      const text = Buffer.from(file.bytes).toString();
      if (file.path.endsWith('.ts')) assert.doesNotMatch(text, /^(?:import type|interface) /m);
    }
  });

  it('has Fairlead, its forwarder, its page, its programs for the kernel, koffi for one machine, and licences', async () => {
    const paths = contents.program.map(({ path }) => path);
    const home = 'usr/local/lib/fairlead';
    const koffi = `${home}/node_modules/koffi`;
    const binary = `${home}/node_modules/${machine.koffiPackage}`;
    const objects = (await programSources(root)).map((source) =>
      basename(source).replace(/c$/, 'o'),
    );
    assert.ok(objects.includes('sock.bpf.o'));
    const page = (await viewPage(root)).map(({ name }) => name);
    assert.deepEqual(paths.filter((path) => !LICENSE.test(path)).toSorted(), [
      PROGRAM_PATH.slice(1),
      'usr/local/bin/kube-proxy',
      ...objects.map((name) => `${home}/bpf/${name}`),
      `${home}/fairlead.mjs`,
      `${home}/forwarder.mjs`,
      `${binary}/index.js`,
      `${binary}/${machine.koffiFolder}/koffi.node`,
      `${binary}/package.json`,
      `${koffi}/index.js`,
      `${koffi}/package.json`,
      `${koffi}/src/koffi/index.js`,
      `${koffi}/src/koffi/src/static.js`,
      ...page.map((name) => `${home}/view/${name}`),
    ]);
    for (const name of ['fairlead', 'koffi/LICENSE.txt', 'zod/LICENSE', 'yaml/LICENSE']) {
      assert.ok(paths.includes(`usr/local/share/licenses/${name}`), name);
    }
  });

  it('has a forwarder without packages other than koffi, in a fifth of the size', async () => {
    const { bytes, packages } = await bundleProgram(root, FORWARDER_ENTRY);
    const program = await bundleProgram(root, MAIN_ENTRY);
    assert.deepEqual(packages, []);
    assert.ok(bytes.length < program.bytes.length / 5, `${bytes.length} bytes`);
  });

  it('says nothing of the machine it was made on in the programs for the kernel', () => {
    const objects = contents.program.filter(({ path }) => path.endsWith('.bpf.o'));
    for (const object of objects) {
      assert.ok(object.kind === 'file');
      const bytes = Buffer.from(object.bytes);
      assert.equal(bytes.includes(root), false, object.path);
      assert.equal(bytes.includes('/usr/include'), false, object.path);
      assert.equal(bytes.includes('.BTF.ext'), true, object.path);
    }
  });

  it('starts Fairlead with the Node that is in it', () => {
    const program = contents.program.find(({ path }) => path.endsWith('fairlead.mjs'));
    assert.ok(program?.kind === 'file' && program.isExecutable);
    const [first] = Buffer.from(program.bytes.subarray(0, 100)).toString().split('\n');
    assert.equal(first, '#!/usr/local/bin/node --max-semi-space-size=16');
  });

  it('is the same when it is made again', async () => {
    const again = await readContents(root, ingredientsHere(root));
    assert.ok(tar(contents.program).equals(tar(again.program)));
    assert.ok(tar(contents.runtime).equals(tar(again.runtime)));
  });

  it('is made of pinned packages, and of programs for the kernel as they are pinned', async () => {
    const pins = await readPins();
    const compiler = pins.find(({ kind }) => kind === 'bpf')?.version;
    const origins = contents.origins.filter(
      ({ kind, version }) => kind === 'npm' || (kind === 'bpf' && version === compiler),
    );
    assert.deepEqual(pinProblems(origins, pins), []);
    for (const name of [machine.nodePackage, machine.koffiPackage, 'zod', 'yaml']) {
      assert.ok(
        origins.some((origin) => origin.name === name),
        name,
      );
    }
  });

  it('has no Debian file of a package that has no origin', () => {
    const names = contents.origins.filter(({ kind }) => kind === 'debian').map(({ name }) => name);
    const papers = contents.runtime.flatMap(
      ({ path }) => /^usr\/share\/doc\/([^/]+)\/copyright$/.exec(path)?.[1] ?? [],
    );
    assert.deepEqual(names.filter((name) => name !== 'base-files').toSorted(), papers.toSorted());
  });

  it('names for every file that is not ours a package that has an origin', () => {
    const known = new Set<string>(contents.origins.map(({ kind, name }) => `${kind} ${name}`));
    const files = [...contents.runtime, ...contents.program].filter(({ kind }) => kind === 'file');
    const own = files.filter((file) => file.kind === 'file' && file.from === undefined);
    for (const file of files) {
      assert.ok(file.kind === 'file');
      if (file.from !== undefined) assert.ok(known.has(file.from), `${file.path}: ${file.from}`);
    }
    const foreign = own.filter(({ path }) => !/^(?:etc|usr\/local\/(?:lib|share))\//.test(path));
    assert.deepEqual(foreign, []);
    assert.deepEqual(
      own.filter(({ path }) => /koffi|licenses\/.*\//.test(path)),
      [],
    );
    const libc = files.find(({ path }) => path.endsWith('/libc.so.6'));
    assert.ok(libc?.kind === 'file' && libc.from === 'debian libc6');
  });

  it('has the licence of the programs for the kernel as their sources say', async () => {
    for (const source of await programSources(root)) {
      const [first] = (await readFile(source, 'utf8')).split('\n');
      assert.equal(first, `/* SPDX-License-Identifier: ${BPF_LICENSE} */`, source);
    }
  });

  it('is what the Dockerfile says of it', async () => {
    const dockerfile = await readFile(join(root, 'deploy/Dockerfile'), 'utf8');
    assert.ok(dockerfile.includes(`ENTRYPOINT ["${PROGRAM_PATH}"]`));
    assert.ok(dockerfile.includes('npm run image -- --tree /image\n'));
    const bases = [...dockerfile.matchAll(/^FROM (.*)$/gm)].map(([, base]) => base);
    assert.deepEqual(bases, ['${BASE} AS build', 'scratch']);
    assert.match(dockerfile, /^ARG BASE$/m);
  });
});
