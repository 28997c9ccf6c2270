import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { FileEntry } from './entry.ts';
import { ImageError } from './image-error.ts';
import type { Machine } from './machine.ts';

/** iptables, with what it loads by name. */
export interface Iptables {
  readonly files: readonly FileEntry[];
  readonly binaries: readonly { readonly name: string; readonly bytes: Buffer }[];
}

/** Both backends: which one a node uses is seen there. Each program is iptables and all its relatives. */
const PROGRAMS = ['/usr/sbin/xtables-nft-multi', '/usr/sbin/xtables-legacy-multi'];
const PROGRAM_FOLDER = 'usr/local/bin';

/**
 * What `mode: iptables` starts, and `cleanup` for what such a mode has left. All extensions, not only
 * those that Fairlead writes: to read a table the program needs those of all rules in it.
 */
export async function readIptables(machine: Machine): Promise<Iptables> {
  const extensions = machine.libraryFolders
    .filter((folder) => folder.startsWith('/usr/'))
    .map((folder) => join(folder, 'xtables'))
    .find((folder) => existsSync(folder));
  if (extensions === undefined || !PROGRAMS.every((path) => existsSync(path))) {
    throw new ImageError(
      'IMAGE_IPTABLES_MISSING',
      'iptables is not installed with both of its backends',
      'install it: apt-get install iptables',
    );
  }
  const names = (await readdir(extensions)).sort();
  const paths = [...PROGRAMS, ...names.map((name) => join(extensions, name))];
  const read = await Promise.all(
    paths.map(async (path) => ({ name: path, bytes: await readFile(path) })),
  );
  return {
    binaries: read,
    files: read.map(({ name, bytes }) => ({ ...inImage(name), bytes })),
  };
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
