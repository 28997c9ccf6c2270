import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Entry, FileEntry } from './entry.ts';
import { librariesOf } from './libraries.ts';
import type { Machine } from './machine.ts';
import { bundleProgram } from './program.ts';

/** The file system of the image in two parts, of which a release usually changes the second. */
export interface Contents {
  readonly version: string;
  /** Node, and what it needs to run. */
  readonly runtime: readonly Entry[];
  /** Fairlead. */
  readonly program: readonly Entry[];
}

export const PROGRAM_PATH = '/usr/local/bin/fairlead';
const NODE_PATH = '/usr/local/bin/node';
const HOME = 'usr/local/lib/fairlead';
const LICENSES = 'usr/local/share/licenses';

/** What `import koffi` reads, in the order in which it does; koffi has sources and documents beside. */
const KOFFI_FILES = [
  'koffi/package.json',
  'koffi/index.js',
  'koffi/src/koffi/index.js',
  'koffi/src/koffi/src/static.js',
];

/** From a checkout with its packages installed, and the libraries of the machine it is on. */
export async function readContents(root: string, machine: Machine): Promise<Contents> {
  const packages = join(root, 'node_modules');
  const node = await readFile(join(packages, 'node/bin/node'));
  const koffi = await koffiFiles(packages, machine);
  const { bytes, version, packages: bundled } = await bundleProgram(root, 'src/main.ts');
  const programs = [{ name: 'node', bytes: node }, koffi.binary];
  return {
    version,
    runtime: [
      { kind: 'file', path: NODE_PATH.slice(1), bytes: node, isExecutable: true },
      ...(await librariesOf(programs, machine)),
      ...SYSTEM_FILES,
    ],
    program: [
      {
        kind: 'file',
        path: `${HOME}/fairlead.mjs`,
        bytes: withFirstLine(bytes),
        isExecutable: true,
      },
      { kind: 'link', path: PROGRAM_PATH.slice(1), target: '../lib/fairlead/fairlead.mjs' },
      ...koffi.files,
      ...(await licenses(packages, ['koffi', ...bundled])),
      await copied(join(root, 'LICENSE'), `${LICENSES}/fairlead`),
    ],
  };
}

/**
 * Names for user 0, and the order in which a host name in a kubeconfig is looked up. No certificates:
 * a kubeconfig brings its own, and Node has the public ones built in. The folders are where things
 * are mounted; on a root that cannot be written to nobody can make them later.
 */
const SYSTEM_FILES: readonly Entry[] = [
  text('etc/passwd', 'root:x:0:0:root:/:/usr/sbin/nologin\n'),
  text('etc/group', 'root:x:0:\n'),
  text('etc/nsswitch.conf', 'passwd: files\ngroup: files\nhosts: files dns\n'),
  ...['dev', 'proc', 'sys', 'run/fairlead', 'var/lib/kube-proxy'].map(
    (path): Entry => ({ kind: 'folder', path }),
  ),
];

/**
 * There is no `env` in the image to find Node with. A small nursery costs a proxy nothing, and it is
 * how Fairlead is measured (docs/scale.md).
 */
const FIRST_LINE = `#!${NODE_PATH} --max-semi-space-size=4`;

function withFirstLine(program: Uint8Array): Uint8Array {
  const end = program.indexOf('\n'.charCodeAt(0));
  return Buffer.concat([Buffer.from(FIRST_LINE), program.subarray(end)]);
}

interface KoffiFiles {
  readonly files: readonly FileEntry[];
  readonly binary: { readonly name: string; readonly bytes: Buffer };
}

async function koffiFiles(packages: string, machine: Machine): Promise<KoffiFiles> {
  const binary = `${machine.koffiPackage}/${machine.koffiFolder}/koffi.node`;
  const paths = [
    ...KOFFI_FILES,
    `${machine.koffiPackage}/package.json`,
    `${machine.koffiPackage}/index.js`,
    binary,
  ];
  const files = await Promise.all(
    paths.map((path) => copied(join(packages, path), `${HOME}/node_modules/${path}`)),
  );
  return { files, binary: { name: binary, bytes: await readFile(join(packages, binary)) } };
}

/** They ask that it goes with every copy of their code, also inside a bundle. */
async function licenses(packages: string, names: readonly string[]): Promise<FileEntry[]> {
  const copies = names.map(async (name) => {
    const files = await readdir(join(packages, name));
    const found = files.filter((file) => /^licen[cs]e/i.test(file)).sort();
    return await Promise.all(
      found.map((file) => copied(join(packages, name, file), `${LICENSES}/${name}/${file}`)),
    );
  });
  return (await Promise.all(copies)).flat();
}

async function copied(from: string, path: string): Promise<FileEntry> {
  return { kind: 'file', path, bytes: await readFile(from) };
}

function text(path: string, content: string): FileEntry {
  return { kind: 'file', path, bytes: Buffer.from(content) };
}
