import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { buildObjects } from '../bpf/objects.ts';
import { runCommand } from '../commands/run.ts';
import { VIEW_FOLDER, viewPage } from '../view-page.ts';
import type { Ingredients } from './ingredients.ts';
import { readKoffi } from './koffi.ts';
import { PLUGIN_NAME } from './krew.ts';
import { licenseFiles } from './license-files.ts';
import { npmOrigins, objectOrigin } from './packages.ts';
import { assertPinned } from './pins.ts';
import { readPins } from './pins-file.ts';
import {
  bundleProgram,
  FORWARDER_ENTRY,
  FORWARDER_PROGRAM,
  MAIN_ENTRY,
  PLUGIN_ENTRY,
} from './program.ts';

/** A kind of machine, and the node_modules with the packages for it. */
export type PackagesOf = Pick<Ingredients, 'machine' | 'packages'>;

const PROGRAM = 'fairlead.mjs';
const EXECUTABLES = [PROGRAM, PLUGIN_NAME];
const COMPILE_DEADLINE_MS = 120_000;
const WRITE_DEADLINE_MS = 60_000;

/**
 * The files of the npm package, for the machines that are given. Everything is in it, checked against
 * its pins: packages in the bundle, koffi as its only bundled dependency, programs for the kernel
 * compiled in bpf/. To install it fetches nothing.
 */
export async function writePackage(
  root: string,
  { folder, from }: { folder: string; from: readonly PackagesOf[] },
): Promise<void> {
  const { bytes, packages } = await bundleProgram(root, MAIN_ENTRY);
  const forwarder = await bundleProgram(root, FORWARDER_ENTRY);
  const objects = await buildObjects(root, AbortSignal.timeout(COMPILE_DEADLINE_MS));
  const pins = await readPins();
  for (const source of from) {
    const origins = await npmOrigins(root, { ...source, bundled: packages });
    assertPinned([...origins, ...objects.map(objectOrigin)], pins);
  }
  await rm(folder, { recursive: true, force: true });
  await write(PROGRAM, bytes);
  await write(FORWARDER_PROGRAM, forwarder.bytes);
  await write(PLUGIN_NAME, (await bundleProgram(root, PLUGIN_ENTRY)).bytes);
  for (const file of await viewPage(root)) await write(`${VIEW_FOLDER}/${file.name}`, file.bytes);
  for (const object of objects) await write(`bpf/${object.name}`, object.bytes);
  for (const source of from) {
    for (const file of await readKoffi(source.packages, source.machine)) {
      const isScripted = file.path === 'koffi/package.json';
      await write(`node_modules/${file.path}`, isScripted ? unscripted(file.bytes) : file.bytes);
    }
  }
  const man = await writeShellFiles(folder);
  await write(
    'package.json',
    `${JSON.stringify(await description(root, { from, man }), null, 2)}\n`,
  );
  await write('README.md', await readFile(join(root, 'README.md')));
  for (const file of await licenseFiles(root, ['koffi', ...packages])) {
    await write(file.name === 'fairlead' ? 'LICENSE' : `licenses/${file.name}`, file.bytes);
  }

  async function write(name: string, content: Uint8Array | string): Promise<void> {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content, { mode: EXECUTABLES.includes(name) ? 0o755 : 0o644 });
  }
}

async function description(
  root: string,
  { from, man }: { from: readonly PackagesOf[]; man: readonly string[] },
): Promise<object> {
  const read = async (path: string) => JSON.parse(await readFile(join(root, path), 'utf8'));
  const { name, version, description, license, repository, type, engines } =
    await read('package.json');
  const koffi = (await read('node_modules/koffi/package.json')).version;
  const koffiPackages = ['koffi', ...from.map(({ machine }) => machine.koffiPackage)];
  const dependencies = Object.fromEntries(koffiPackages.map((each) => [each, koffi]));
  return {
    name,
    version,
    description,
    license,
    // Provenance on a registry names it.
    ...(repository === undefined ? {} : { repository }),
    type,
    bin: { fairlead: PROGRAM, [PLUGIN_NAME]: PLUGIN_NAME },
    // `npm install --global` puts them where man(1) looks.
    man,
    engines,
    os: ['linux'],
    cpu: from.map(({ machine }) => machine.cpu),
    dependencies,
    bundleDependencies: Object.keys(dependencies),
  };
}

/** Completions and manual pages, by the program that ships; gives the paths of the pages. */
async function writeShellFiles(folder: string): Promise<readonly string[]> {
  const { ok, output } = await runCommand({
    program: process.execPath,
    args: [join(folder, PROGRAM), 'completion', '--write', folder],
    folder,
    timeoutMs: WRITE_DEADLINE_MS,
    signal: new AbortController().signal,
  });
  if (!ok) throw new Error(`cannot generate completions and manual pages: ${output}`);
  return (await readdir(join(folder, 'man'))).sort().map((name) => `man/${name}`);
}

/** Its install script needs a compiler and files that are not in the package: it would fail. */
function unscripted(bytes: Buffer): string {
  const { scripts: _, ...rest } = JSON.parse(bytes.toString());
  return `${JSON.stringify(rest, null, 2)}\n`;
}
