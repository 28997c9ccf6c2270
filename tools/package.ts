/**
 * `npm run package`: the npm package, fairlead-VERSION.tgz, for the kind of machine that it is made on.
 * Everything is in it, checked against its pins: packages in the bundle, koffi as its only bundled
 * dependency, programs for the kernel compiled in bpf/. To install it fetches nothing.
 */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { buildObjects } from './bpf/objects.ts';
import { runCommand } from './commands/run.ts';
import { explained } from './image/explained.ts';
import { readKoffi } from './image/koffi.ts';
import { PLUGIN_NAME } from './image/krew.ts';
import { licenseFiles } from './image/license-files.ts';
import { type Machine, machineOf } from './image/machine.ts';
import { assertInstalled, npmOrigins, objectOrigin } from './image/packages.ts';
import { assertPinned } from './image/pins.ts';
import { readPins } from './image/pins-file.ts';
import {
  bundleProgram,
  FORWARDER_ENTRY,
  FORWARDER_PROGRAM,
  MAIN_ENTRY,
  PLUGIN_ENTRY,
} from './image/program.ts';
import { VIEW_FOLDER, viewPage } from './view-page.ts';

const PROGRAM = 'fairlead.mjs';
const COMPILE_DEADLINE_MS = 120_000;
const WRITE_DEADLINE_MS = 60_000;
const root = join(import.meta.dirname, '..');
const folder = join(root, 'dist/package');

await explained(makePackage);

async function makePackage(): Promise<void> {
  const machine = machineOf(process.arch);
  assertInstalled(root, machine);
  const { bytes, packages } = await bundleProgram(root, MAIN_ENTRY);
  const forwarder = await bundleProgram(root, FORWARDER_ENTRY);
  const objects = await buildObjects(root, AbortSignal.timeout(COMPILE_DEADLINE_MS));
  const origins = await npmOrigins(root, { machine, bundled: packages });
  assertPinned([...origins, ...objects.map(objectOrigin)], await readPins());
  await rm(folder, { recursive: true, force: true });
  await write(PROGRAM, bytes);
  await write(FORWARDER_PROGRAM, forwarder.bytes);
  await write(PLUGIN_NAME, (await bundleProgram(root, PLUGIN_ENTRY)).bytes);
  for (const file of await viewPage(root)) await write(`${VIEW_FOLDER}/${file.name}`, file.bytes);
  for (const object of objects) await write(`bpf/${object.name}`, object.bytes);
  for (const { path, bytes } of await readKoffi(join(root, 'node_modules'), machine)) {
    await write(`node_modules/${path}`, path === 'koffi/package.json' ? unscripted(bytes) : bytes);
  }
  const man = await writeShellFiles();
  await write('package.json', `${JSON.stringify(await description(machine, man), null, 2)}\n`);
  await write('README.md', await readFile(join(root, 'README.md')));
  for (const file of await licenseFiles(root, ['koffi', ...packages])) {
    await write(file.name === 'fairlead' ? 'LICENSE' : `licenses/${file.name}`, file.bytes);
  }
}

async function description(
  { cpu, koffiPackage }: Machine,
  man: readonly string[],
): Promise<object> {
  const read = async (path: string) => JSON.parse(await readFile(join(root, path), 'utf8'));
  const { name, version, description, license, type, engines } = await read('package.json');
  const koffi = (await read('node_modules/koffi/package.json')).version;
  const dependencies = { koffi, [koffiPackage]: koffi };
  return {
    name,
    version,
    description,
    license,
    type,
    bin: { fairlead: PROGRAM, [PLUGIN_NAME]: PLUGIN_NAME },
    // `npm install --global` puts them where man(1) looks.
    man,
    engines,
    os: ['linux'],
    cpu: [cpu],
    dependencies,
    bundleDependencies: Object.keys(dependencies),
  };
}

/** Completions and manual pages, by the program that ships; gives the paths of the pages. */
async function writeShellFiles(): Promise<readonly string[]> {
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

async function write(name: string, content: Uint8Array | string): Promise<void> {
  const path = join(folder, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content, { mode: [PROGRAM, PLUGIN_NAME].includes(name) ? 0o755 : 0o644 });
}
