import { readdir, stat } from 'node:fs/promises';

/**
 * The processes inside each of these network namespaces, given by path. One pass over /proc for all:
 * `ip netns pids` reads the whole of it for one, and a lab may have a thousand.
 */
export async function processesByNamespace(
  paths: readonly string[],
): Promise<ReadonlyMap<string, readonly number[]>> {
  const byIdentity = new Map<string, number[]>();
  const byPath = new Map<string, number[]>();
  for (const path of paths) {
    const pids: number[] = [];
    byPath.set(path, pids);
    const identity = await identityOf(path, ['ENOENT']);
    if (identity !== undefined) byIdentity.set(identity, pids);
  }
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const identity = await identityOf(`/proc/${name}/ns/net`, NOT_OURS);
    if (identity !== undefined) byIdentity.get(identity)?.push(Number(name));
  }
  return byPath;
}

/** It has exited meanwhile, or not even root here may inspect it. */
const NOT_OURS = ['ENOENT', 'ESRCH', 'EACCES'];

/** Two paths lead to one namespace when these are equal; undefined for one of these errors. */
async function identityOf(path: string, absent: readonly string[]): Promise<string | undefined> {
  try {
    const { dev, ino } = await stat(path);
    return `${dev}:${ino}`;
  } catch (error) {
    if (absent.includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}
