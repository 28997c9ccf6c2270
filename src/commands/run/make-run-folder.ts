import { lstat, mkdir } from 'node:fs/promises';
import { folderSafety } from '../../linux/safe-folder.ts';
import { CommandError } from '../command-error.ts';

const FOLDER_MODE = 0o755;
const WRITABLE_BY_OTHERS = 0o022;
const ROOT = 0;

/** Makes the run folder, or rejects one that other users can write to. */
export async function makeRunFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: FOLDER_MODE });
  await assertOwnFolder(path);
}

/**
 * Its files are trusted: `cleanup` writes the sysctls that a file names, as root, and `status` prints
 * what the socket answers. Below /run only root can create it; elsewhere another user may have.
 */
export async function assertOwnFolder(path: string): Promise<void> {
  const found = await lstat(path);
  const isOwn = found.uid === ROOT || found.uid === process.geteuid?.();
  const isForRoot = found.isDirectory() && isOwn && (found.mode & WRITABLE_BY_OTHERS) === 0;
  if (isForRoot && (await folderSafety(path)).isFirm) return;
  throw new CommandError(
    `${path} is a symbolic link, or other users can write to it or replace it`,
    {
      code: 'RUN_FOLDER_UNSAFE',
      next: 'omit --run-folder, or give a folder that only root can write to, below others such as /run',
    },
  );
}
