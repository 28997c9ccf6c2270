import { glob, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { compile, compilerVersion, USUAL_CPU } from './compile.ts';

const SOURCES = 'bpf/*.bpf.c';
const FOLDER = 'dist/bpf';

export interface BuiltObject {
  readonly name: string;
  readonly bytes: Buffer;
  /** The version of clang. */
  readonly compiler: string;
}

/** Where the sources of all programs for the kernel are, in the order of their names. */
export async function programSources(root: string): Promise<string[]> {
  return (await Array.fromAsync(glob(join(root, SOURCES)))).sort();
}

/** Every object that is shipped, as the sources are now: what is left of earlier ones is none. */
export async function buildObjects(root: string, signal: AbortSignal): Promise<BuiltObject[]> {
  const objects: BuiltObject[] = [];
  const compiler = await compilerVersion(root, signal);
  for (const source of await programSources(root)) {
    const folder = join(root, FOLDER);
    const { path } = await compile({ root, source, folder, signal, cpu: USUAL_CPU });
    objects.push({ name: basename(path), bytes: await readFile(path), compiler });
  }
  return objects;
}
