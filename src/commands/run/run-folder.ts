import { lstat, mkdir } from 'node:fs/promises';
import { CommandError } from '../command-error.ts';

const FOLDER_MODE = 0o755;
const WRITABLE_BY_OTHERS = 0o022;
const ROOT = 0;

/** Makes the folder of a running Fairlead, or rejects one in which others can put files. */
export async function makeRunFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: FOLDER_MODE });
  await assertOwnFolder(path);
}

/**
 * What lies in it is trusted: `cleanup` sets what its file says as root, and `status` shows what its
 * socket answers. Below /run only root can make it; a folder elsewhere may be somebody else's.
 */
export async function assertOwnFolder(path: string): Promise<void> {
  const found = await lstat(path);
  const isOwn = found.uid === ROOT || found.uid === process.geteuid?.();
  if (found.isDirectory() && isOwn && (found.mode & WRITABLE_BY_OTHERS) === 0) return;
  throw new CommandError(`${path} is a link, or a folder that other users can write to`, {
    code: 'RUN_FOLDER_UNSAFE',
    next: 'leave out --run-folder, or give a folder of root that only root can write to',
  });
}
