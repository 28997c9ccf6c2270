import { lstat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { LabError } from './errors.ts';

const WRITABLE_BY_OTHERS = 0o022;

/** What is expensive to make and good for every lab: built binaries, loaded etcd folders. */
export function cacheFolder(): string {
  const base = process.env['FAIRLEAD_CACHE'];
  if (base) return base;
  return join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'fairlead');
}

/** What belongs to running labs: state, logs, etcd data. Removed by `lab down`. */
export const LABS_FOLDER = '/var/tmp/fairlead-lab';

export function labFolder(lab: string): string {
  return join(LABS_FOLDER, lab);
}

/** Labs are made and deleted by path, as root, below a folder where any user can take the name first. */
export async function assertLabsFolderOwn(folder = LABS_FOLDER): Promise<void> {
  const found = await lstat(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  if (found === undefined) return;
  const isOwn = found.isDirectory() && found.uid === process.geteuid?.();
  if (isOwn && (found.mode & WRITABLE_BY_OTHERS) === 0) return;
  throw new LabError('LAB_FOLDER_UNSAFE', `another user made ${folder}, or can write to it`, {
    next: 'delete it and start again; if that user made it on purpose, talk to them',
  });
}
