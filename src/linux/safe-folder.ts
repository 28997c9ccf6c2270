import { constants } from 'node:fs';
import { lstat, open, readdir, readFile, realpath, rm, rmdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { systemCode } from './sysctl-error.ts';

/** How the kernel shows an owner whom this user namespace does not map. */
const UNMAPPED = 65_534;
const WRITABLE_BY_OTHERS = 0o022;
const STICKY = 0o1000;
const FOLDER_ITSELF = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** A folder that is not the user's alone, although only such a folder may be changed. */
export class FolderError extends Error {
  override readonly name = 'FolderError';
  readonly code = 'FOLDER_NOT_OWN';
  readonly next = 'delete it by hand if you know whose it is';
}

export interface FolderSafety {
  /** Nobody else can write into the folder. */
  readonly isPrivate: boolean;
  /** Nobody else can put another folder in its place, or rename what this user makes inside. */
  readonly isFirm: boolean;
}

/**
 * What other users, root excepted, can do to a path: each part of it, and of what its links lead to,
 * is judged, since whoever can rename one part can replace everything below.
 */
export async function folderSafety(path: string): Promise<FolderSafety> {
  const literal = resolve(path);
  const real = await realpath(literal);
  const parts = new Set([...above(literal), ...above(real), literal]);
  const root = await rootHere();
  const firm = await Promise.all([...parts, real].map((part) => isFirm(part, root)));
  const { uid, mode } = await lstat(real);
  return {
    isPrivate: firm.every(Boolean) && isOwn(uid) && (mode & WRITABLE_BY_OTHERS) === 0,
    isFirm: firm.every(Boolean),
  };
}

/**
 * Deletes a folder of this user that nobody else can write to. Its contents are reached by its
 * descriptor, so a folder or link that takes its name meanwhile loses nothing.
 */
export async function removeOwnFolder(path: string): Promise<void> {
  try {
    const folder = await open(path, FOLDER_ITSELF);
    try {
      const { uid, mode } = await folder.stat();
      if (uid !== process.geteuid?.() || (mode & WRITABLE_BY_OTHERS) !== 0) {
        throw new FolderError(`${path} belongs to another user, or others can write to it`);
      }
      const held = `/proc/self/fd/${folder.fd}`;
      for (const name of await readdir(held)) {
        await rm(join(held, name), { recursive: true, force: true });
      }
    } finally {
      await folder.close();
    }
    // Follows no link, and deletes nothing but an empty folder.
    await rmdir(path);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
  }
}

/** The folders above a path, without the path itself. */
function above(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [] : [parent, ...above(parent)];
}

async function isFirm(path: string, root: number): Promise<boolean> {
  const found = await lstat(path);
  if (!isOwn(found.uid) && found.uid !== root) return false;
  // The mode of a link says nothing; in a sticky folder only owners rename.
  if (found.isSymbolicLink() || (found.mode & STICKY) !== 0) return true;
  return (found.mode & WRITABLE_BY_OTHERS) === 0;
}

/** The user namespace of a shell maps only the user, and not root, who owns the folders above. */
async function rootHere(): Promise<number> {
  const map = await readFile('/proc/self/uid_map', 'utf8');
  return /^\s*0\s/m.test(map) ? 0 : UNMAPPED;
}

function isOwn(uid: number): boolean {
  return uid === process.geteuid?.();
}
