import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { FileEntry } from './entry.ts';
import { ImageError } from './image-error.ts';
import type { Machine } from './machine.ts';

/** A file of iptables, or one that it loads by name. */
export interface IptablesFile {
  /** Its path in Debian. */
  readonly source: string;
  readonly bytes: Buffer;
  readonly entry: FileEntry;
}

/** Both backends: which one a node uses is seen there. Each program is iptables and all its relatives. */
const PROGRAMS = ['/usr/sbin/xtables-nft-multi', '/usr/sbin/xtables-legacy-multi'];
const PROGRAM_FOLDER = 'usr/local/bin';

/**
 * What `mode: iptables` starts, and `cleanup` for what such a mode has left. All extensions, not only
 * those that Fairlead writes: to read a table the program needs those of all rules in it.
 */
export async function readIptables(machine: Machine, debian: string): Promise<IptablesFile[]> {
  const extensions = machine.libraryFolders
    .filter((folder) => folder.startsWith('/usr/'))
    .map((folder) => join(folder, 'xtables'))
    .find((folder) => existsSync(join(debian, folder)));
  if (extensions === undefined || !PROGRAMS.every((path) => existsSync(join(debian, path)))) {
    throw new ImageError(
      'IMAGE_IPTABLES_MISSING',
      'iptables is not installed with both of its backends',
      'install it: apt-get install iptables',
    );
  }
  const names = (await readdir(join(debian, extensions))).sort();
  const paths = [...PROGRAMS, ...names.map((name) => join(extensions, name))];
  return await Promise.all(
    paths.map(async (source) => {
      const bytes = await readFile(join(debian, source));
      return { source, bytes, entry: { ...inImage(source), bytes } };
    }),
  );
}

/** The programs load extensions from a compiled-in path; they themselves may be anywhere. */
function inImage(path: string): Omit<FileEntry, 'bytes'> {
  const isProgram = PROGRAMS.includes(path);
  return {
    kind: 'file',
    path: isProgram ? join(PROGRAM_FOLDER, basename(path)) : path.slice(1),
    isExecutable: isProgram,
  };
}
