import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ClusterError, describeError, systemCode } from '../cluster-error.ts';

/** The text of a file, or why there is none. */
export interface ManifestText {
  readonly file: string;
  readonly text: string | undefined;
  readonly problem?: ClusterError;
}

export const STANDARD_INPUT = '-';
const MANIFEST_NAME = /\.(ya?ml|json)$/;

/** The manifest files: the paths themselves, or the files in a folder, sorted. */
export async function findManifests(paths: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(
    paths.map(async (path) => {
      if (!(await isDirectory(path))) return [path];
      // A folder that cannot be listed is treated as a file: reading it reports the error.
      const names = await readdir(path).catch(() => undefined);
      if (names === undefined) return [path];
      return names
        .filter((name) => MANIFEST_NAME.test(name) && !name.startsWith('.'))
        .sort()
        .map((name) => join(path, name));
    }),
  );
  return [...new Set(found.flat())];
}

export async function readManifest(file: string): Promise<ManifestText> {
  try {
    return { file, text: await readFile(file, 'utf8') };
  } catch (error) {
    const why = systemCode(error) === 'ENOENT' ? 'no such file' : describeError(error);
    const problem = new ClusterError('MANIFEST_UNREADABLE', `cannot read ${file}: ${why}`, {
      next: 'pass a file that exists and that this user may read',
      cause: error,
    });
    return { file, text: undefined, problem };
  }
}

/**
 * The folders to watch: those of the paths and of symbolic link targets, since a mounted ConfigMap
 * changes by replacing a link.
 */
export async function foldersToWatch(paths: readonly string[]): Promise<readonly string[]> {
  const folders = new Set<string>();
  for (const path of paths) {
    if (path === STANDARD_INPUT) continue;
    folders.add((await isDirectory(path)) ? path : dirname(path));
    const target = await realpath(path).catch(() => path);
    folders.add((await isDirectory(target)) ? target : dirname(target));
  }
  return [...folders].sort();
}

async function isDirectory(path: string): Promise<boolean> {
  // A missing path is treated as a file: reading it reports the error.
  const found = await stat(path).catch(() => undefined);
  return found?.isDirectory() === true;
}
