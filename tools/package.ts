/**
 * `npm run package`: the npm package, fairlead-VERSION.tgz. It is made of a folder of its own,
 * dist/package, whose package.json asks for koffi and nothing else: the other packages are in the
 * bundle, and nobody shall install them a second time. Programs for the kernel come compiled, in bpf/
 * beside it.
 */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { buildObjects } from './bpf/objects.ts';
import { licenseFiles } from './image/license-files.ts';
import { bundleProgram } from './image/program.ts';

const PROGRAM = 'fairlead.mjs';
const COMPILE_DEADLINE_MS = 120_000;
const root = join(import.meta.dirname, '..');
const folder = join(root, 'dist/package');

await rm(folder, { recursive: true, force: true });
const { bytes, packages } = await bundleProgram(root, 'src/main.ts');
await write(PROGRAM, bytes);
for (const { name, bytes } of await buildObjects(root, AbortSignal.timeout(COMPILE_DEADLINE_MS))) {
  await write(`bpf/${name}`, bytes);
}
await write('package.json', `${JSON.stringify(await description(), null, 2)}\n`);
await write('README.md', await readFile(join(root, 'README.md')));
for (const file of await licenseFiles(root, packages)) {
  await write(file.name === 'fairlead' ? 'LICENSE' : `licenses/${file.name}`, file.bytes);
}

async function description(): Promise<object> {
  const text = await readFile(join(root, 'package.json'), 'utf8');
  const { name, version, description, license, type, engines, dependencies } = JSON.parse(text);
  return {
    name,
    version,
    description,
    license,
    type,
    bin: { fairlead: PROGRAM },
    engines,
    os: ['linux'],
    dependencies: { koffi: dependencies.koffi },
  };
}

async function write(name: string, content: Uint8Array | string): Promise<void> {
  const path = join(folder, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content, { mode: name === PROGRAM ? 0o755 : 0o644 });
}
