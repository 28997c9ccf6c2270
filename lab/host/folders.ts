import { homedir } from 'node:os';
import { join } from 'node:path';

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
