import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { readLinkage } from './elf.ts';
import type { FileEntry } from './entry.ts';
import { ImageError } from './image-error.ts';
import type { Ingredients } from './ingredients.ts';

/** A kind of machine, and a file system of Debian for it. */
type Place = Pick<Ingredients, 'machine' | 'debian'>;

interface Binary {
  readonly name: string;
  readonly bytes: Buffer;
}

/**
 * The loader and every library that the programs need, and those need in turn: each at the path
 * where the loader of the machine looks for it, so that the image needs no cache of paths.
 */
export async function librariesOf(
  programs: readonly Binary[],
  { machine, debian }: Place,
): Promise<readonly FileEntry[]> {
  const found = new Map<string, FileEntry>();
  const waiting = [...programs];
  // First, because libraries name the loader too, and only a program says where it must be.
  for (const { name, bytes } of programs) {
    const { interpreter } = readLinkage(bytes, name);
    if (interpreter !== undefined) waiting.push(await take(interpreter));
  }
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const library of readLinkage(next.bytes, next.name).needed) {
      if (found.has(library)) continue;
      waiting.push(await take(locate(library, { by: next.name, machine, debian })));
    }
  }
  return [...found.values()];

  async function take(path: string): Promise<Binary> {
    const bytes = await readFile(join(debian, path));
    found.set(basename(path), { kind: 'file', path: path.slice(1), bytes, isExecutable: true });
    return { name: path, bytes };
  }
}

function locate(library: string, { by, machine, debian }: Place & { by: string }): string {
  const paths = machine.libraryFolders.map((folder) => join(folder, library));
  const path = paths.find((candidate) => existsSync(join(debian, candidate)));
  if (path !== undefined) return path;
  throw new ImageError(
    'IMAGE_LIBRARY_MISSING',
    `${by} needs ${library}, which is not in ${machine.libraryFolders.join(', ')}`,
    'make the image on a machine with glibc that can run Node, such as Debian 12',
  );
}
