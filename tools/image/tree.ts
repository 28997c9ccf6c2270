import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { completed, type Entry, modeOf } from './entry.ts';

/** Writes the entries as files, into a folder that is new or empty. */
export async function writeTree(folder: string, entries: readonly Entry[]): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const entry of completed(entries)) {
    const path = join(folder, entry.path);
    if (entry.kind === 'link') {
      await symlink(entry.target, path);
      continue;
    }
    if (entry.kind === 'folder') await mkdir(path);
    else await writeFile(path, entry.bytes, { flag: 'wx' });
    // Whatever mask the maker has for new files.
    await chmod(path, modeOf(entry));
  }
}
