import { readdir } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';

const CODE = /\.[cm]?[jt]sx?$/;
const NOT_OURS = new Set(['node_modules', 'coverage', 'dist']);

/** Every source file below `root`, as sorted paths with `/`, wherever it lies: nothing hides. */
export async function codeFiles(root: string): Promise<readonly string[]> {
  const found = await walk(root);
  return found.map((path) => relative(root, path).split(sep).join('/')).sort();
}

async function walk(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const nested = await Promise.all(
    entries.map(async (entry): Promise<string[]> => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        return NOT_OURS.has(entry.name) || entry.name.startsWith('.') ? [] : walk(path);
      }
      return CODE.test(entry.name) ? [path] : [];
    }),
  );
  return nested.flat();
}
