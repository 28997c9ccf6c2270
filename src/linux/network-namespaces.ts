import { readdirSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Where `ip netns` and container runtimes keep namespaces that have a name. */
const NAMED = '/run/netns';
const PROCESSES = '/proc';

/**
 * Paths of the network namespaces of the machine, each once: those of processes that we can see,
 * and those with a name. In a container this takes the process ids of the machine (hostPID), or the
 * folder of names.
 */
export function networkNamespaces(): string[] {
  const found = new Map<string, string>();
  for (const pid of readdirSync(PROCESSES)) {
    if (!/^\d+$/.test(pid)) continue;
    const path = join(PROCESSES, pid, 'ns/net');
    const id = unlessGone(() => readlinkSync(path).replace(/\D/g, ''));
    if (id !== undefined && !found.has(id)) found.set(id, path);
  }
  for (const name of unlessGone(() => readdirSync(NAMED)) ?? []) {
    const path = join(NAMED, name);
    const id = unlessGone(() => String(statSync(path).ino));
    // A name outlives every process, and so does its path.
    if (id !== undefined) found.set(id, path);
  }
  return [...found.values()];
}

/** Processes end while they are listed. */
function unlessGone<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH' || code === 'EACCES') return undefined;
    throw error;
  }
}
