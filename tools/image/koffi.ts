import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Machine } from './machine.ts';

/** A file of koffi's packages, by its path in node_modules. */
export interface KoffiFile {
  readonly path: string;
  readonly bytes: Buffer;
}

/** What `import koffi` reads, in the order in which it does; koffi has sources and documents beside. */
const SHARED_FILES = [
  'koffi/package.json',
  'koffi/index.js',
  'koffi/src/koffi/index.js',
  'koffi/src/koffi/src/static.js',
];

/** koffi as it ships, with its binary for one machine. */
export async function readKoffi(packages: string, machine: Machine): Promise<KoffiFile[]> {
  const { koffiPackage, koffiFolder } = machine;
  const own = ['package.json', 'index.js', `${koffiFolder}/koffi.node`];
  const paths = [...SHARED_FILES, ...own.map((name) => `${koffiPackage}/${name}`)];
  return await Promise.all(
    paths.map(async (path) => ({ path, bytes: await readFile(join(packages, path)) })),
  );
}
