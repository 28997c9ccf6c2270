import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type BuiltObject, buildObjects } from '../bpf/objects.ts';
import { VIEW_FOLDER, viewPage } from '../view-page.ts';
import { packageFiles } from './debian.ts';
import type { Entry, FileEntry } from './entry.ts';
import type { Ingredients } from './ingredients.ts';
import { readIptables } from './iptables.ts';
import { readKoffi } from './koffi.ts';
import { librariesOf } from './libraries.ts';
import { licenseFiles } from './license-files.ts';
import type { Origin } from './origin.ts';
import { assertInstalled, npmOrigins, objectOrigin } from './packages.ts';
import { bundleProgram, FORWARDER_ENTRY, FORWARDER_PROGRAM, MAIN_ENTRY } from './program.ts';

/** The file system of the image in two parts, of which a release usually changes the second. */
export interface Contents {
  readonly version: string;
  /** Node and iptables, and what they need to run. */
  readonly runtime: readonly Entry[];
  /** Fairlead. */
  readonly program: readonly Entry[];
  /** npm packages whose code is in the bundle. */
  readonly bundled: readonly string[];
  /** Of everything in it that is not a source of this repository. */
  readonly origins: readonly Origin[];
}

export const PROGRAM_PATH = '/usr/local/bin/fairlead';
/** What the DaemonSet of kubeadm starts: with this image it needs no other change. */
const KUBE_PROXY_PATH = '/usr/local/bin/kube-proxy';
const NODE_PATH = '/usr/local/bin/node';
const HOME = 'usr/local/lib/fairlead';
const LICENSES = 'usr/local/share/licenses';
/** As each source in bpf/ says in its first line. */
export const BPF_LICENSE = 'MIT OR GPL-2.0-only';
const COMPILE_DEADLINE_MS = 120_000;

/**
 * From a checkout with its packages installed. `program` is the path of a bundle to take in place of
 * the one that is made of the sources.
 */
export async function readContents(
  root: string,
  { machine, packages, debian, program }: Ingredients & { program?: string | undefined },
): Promise<Contents> {
  assertInstalled(packages, machine);
  const node = await readFile(join(packages, machine.nodePackage, 'bin/node'));
  const koffi = await readKoffi(packages, machine);
  const { bytes, version, packages: bundled } = await bundleProgram(root, MAIN_ENTRY);
  const forwarder = await bundleProgram(root, FORWARDER_ENTRY);
  const given = program === undefined ? bytes : await readFile(program);
  const iptables = await readIptables(machine, debian);
  const programs = [
    { name: 'node', bytes: node },
    ...koffi
      .filter(({ path }) => path.endsWith('.node'))
      .map(({ path, bytes }) => ({ name: path, bytes })),
    ...iptables.map(({ source, bytes }) => ({ name: source, bytes })),
  ];
  const libraries = await librariesOf(programs, { machine, debian });
  const ofDebian = [
    ...libraries.map(({ path, bytes }) => ({ path: `/${path}`, bytes })),
    ...iptables.map(({ source, bytes }) => ({ path: source, bytes })),
  ];
  const ofPackages = await packageFiles(ofDebian, { machine, debian });
  const fromDebian = (path: string): Pick<FileEntry, 'from'> => {
    const from = ofPackages.packageOf.get(path);
    return from === undefined ? {} : { from };
  };
  const objects = await buildObjects(root, AbortSignal.timeout(COMPILE_DEADLINE_MS));
  return {
    version,
    bundled,
    runtime: [
      {
        kind: 'file',
        path: NODE_PATH.slice(1),
        bytes: node,
        isExecutable: true,
        from: `npm ${machine.nodePackage}`,
      },
      {
        kind: 'file',
        path: `${LICENSES}/node`,
        bytes: await readFile(join(packages, machine.nodePackage, 'LICENSE')),
        from: `npm ${machine.nodePackage}`,
      },
      ...iptables.map(({ source, entry }) => ({ ...entry, ...fromDebian(source) })),
      ...libraries.map((entry) => ({ ...entry, ...fromDebian(`/${entry.path}`) })),
      ...ofPackages.files,
      ...SYSTEM_FILES,
    ],
    program: [
      {
        kind: 'file',
        path: `${HOME}/fairlead.mjs`,
        bytes: withFirstLine(given),
        isExecutable: true,
      },
      { kind: 'file', path: `${HOME}/${FORWARDER_PROGRAM}`, bytes: forwarder.bytes },
      ...[PROGRAM_PATH, KUBE_PROXY_PATH].map(
        (path): Entry => ({
          kind: 'link',
          path: path.slice(1),
          target: '../lib/fairlead/fairlead.mjs',
        }),
      ),
      ...kernelPrograms(objects),
      ...(await viewPage(root)).map(
        ({ name, bytes }): FileEntry => ({
          kind: 'file',
          path: `${HOME}/${VIEW_FOLDER}/${name}`,
          bytes,
        }),
      ),
      ...koffi.map(
        ({ path, bytes }): FileEntry => ({
          kind: 'file',
          path: `${HOME}/node_modules/${path}`,
          bytes,
          from: `npm ${packageIn(path)}`,
        }),
      ),
      ...(await licenseFiles(root, ['koffi', ...bundled])).map(
        ({ name, bytes }): FileEntry => ({
          kind: 'file',
          path: `${LICENSES}/${name}`,
          bytes,
          ...(name.includes('/') ? { from: `npm ${packageIn(name)}` } : {}),
        }),
      ),
    ],
    origins: [
      ...(await npmOrigins(root, { machine, packages, bundled })),
      ...ofPackages.origins,
      ...objects.map(objectOrigin),
    ],
  };
}

/**
 * Names for user 0, and the order in which a host name in a kubeconfig is looked up. No certificates:
 * a kubeconfig brings its own, and Node has the public ones built in. The folders are mount
 * points, which cannot be created later on a read-only root.
 */
const SYSTEM_FILES: readonly Entry[] = [
  text('etc/passwd', 'root:x:0:0:root:/:/usr/sbin/nologin\n'),
  text('etc/group', 'root:x:0:\n'),
  text('etc/nsswitch.conf', 'passwd: files\ngroup: files\nhosts: files dns\n'),
  ...['dev', 'proc', 'sys', 'run/fairlead', 'run/netns', 'var/lib/kube-proxy'].map(
    (path): Entry => ({ kind: 'folder', path }),
  ),
];

/**
 * There is no `env` in the image to find Node with. The nursery is for the start, which makes two
 * gigabytes of short-lived objects at 50,000 Services; afterwards it is given back. It is how Fairlead
 * is measured (docs/benchmarks.md).
 */
const FIRST_LINE = `#!${NODE_PATH} --max-semi-space-size=16`;

function withFirstLine(program: Uint8Array): Uint8Array {
  const end = program.indexOf('\n'.charCodeAt(0));
  return Buffer.concat([Buffer.from(FIRST_LINE), program.subarray(end)]);
}

/** Where the bundle looks for them: in a folder beside it. */
function kernelPrograms(objects: readonly BuiltObject[]): FileEntry[] {
  return objects.map(({ name, bytes }) => ({
    kind: 'file',
    path: `${HOME}/bpf/${name}`,
    bytes,
    license: BPF_LICENSE,
  }));
}

/** The npm package that a path below node_modules is of. */
function packageIn(path: string): string {
  const [first = '', second = ''] = path.split('/');
  return first.startsWith('@') ? `${first}/${second}` : first;
}

function text(path: string, content: string): FileEntry {
  return { kind: 'file', path, bytes: Buffer.from(content) };
}
