import { lstat, readlink } from 'node:fs/promises';
import { dirname, join, parse, resolve, sep } from 'node:path';

/** Directories and the entries in them that a path depends on. */
export type FileTrail = ReadonlyMap<string, ReadonlySet<string>>;

/** Symbolic links that Linux follows before ELOOP. */
const MOST_LINKS = 40;

/**
 * Follows a path through its symbolic links. A ConfigMap in a pod is two of them
 * (`config.conf` → `..data/config.conf`, `..data` → `..2026_11_15/`), and an update replaces the
 * second one, so watching the file alone would see nothing.
 */
export async function fileTrail(path: string): Promise<FileTrail> {
  const trail = new Map<string, Set<string>>();
  const start = resolve(path);
  let directory = parse(start).root;
  let names = start.split(sep).filter((name) => name !== '');
  let links = 0;
  while (names.length > 0) {
    const [name = '', ...rest] = names;
    const entry = join(directory, name);
    const kind = await entryKind(entry);
    if (kind !== 'directory') note(trail, { directory, name });
    if (kind === 'missing' || links > MOST_LINKS) break;
    if (kind === 'link') {
      links++;
      const target = resolve(dirname(entry), await readlink(entry));
      directory = parse(target).root;
      names = [...target.split(sep).filter((part) => part !== ''), ...rest];
    } else {
      directory = entry;
      names = rest;
    }
  }
  return trail;
}

function note(
  trail: Map<string, Set<string>>,
  { directory, name }: { directory: string; name: string },
): void {
  const names = trail.get(directory) ?? new Set();
  trail.set(directory, names.add(name));
}

async function entryKind(path: string): Promise<'directory' | 'file' | 'link' | 'missing'> {
  try {
    const status = await lstat(path);
    if (status.isSymbolicLink()) return 'link';
    return status.isDirectory() ? 'directory' : 'file';
  } catch (error) {
    if (error instanceof Error && 'code' in error && isMissing(error.code)) return 'missing';
    throw error;
  }
}

function isMissing(code: unknown): boolean {
  return code === 'ENOENT' || code === 'ENOTDIR';
}
