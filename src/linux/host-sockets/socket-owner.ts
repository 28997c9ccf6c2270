import { readdir, readFile, readlink } from 'node:fs/promises';

/** The program that has a socket. */
export interface SocketOwner {
  readonly pid: number;
  readonly program: string;
}

/**
 * Finds the process of each socket, by inode. Reads the open files of every process, so it is only
 * for the few sockets that are reported. Processes of other PID namespaces are invisible.
 */
export async function socketOwners(
  inodes: ReadonlySet<number>,
): Promise<ReadonlyMap<number, SocketOwner>> {
  const owners = new Map<number, SocketOwner>();
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  for (const pid of pids) {
    if (owners.size === inodes.size) break;
    for (const inode of await openSockets(pid)) {
      if (!inodes.has(inode) || owners.has(inode)) continue;
      owners.set(inode, { pid: Number(pid), program: await programOf(pid) });
    }
  }
  return owners;
}

async function openSockets(pid: string): Promise<number[]> {
  const folder = `/proc/${pid}/fd`;
  const names = (await orNothing(() => readdir(folder))) ?? [];
  const links = await Promise.all(
    names.map((name) => orNothing(() => readlink(`${folder}/${name}`))),
  );
  return links.flatMap((link) => {
    const inode = link === undefined ? undefined : /^socket:\[(\d+)\]$/.exec(link)?.[1];
    return inode === undefined ? [] : [Number(inode)];
  });
}

async function programOf(pid: string): Promise<string> {
  const name = await orNothing(() => readFile(`/proc/${pid}/comm`, 'utf8'));
  return name?.trim() ?? 'unknown';
}

const GONE = ['ENOENT', 'ESRCH', 'EACCES', 'EPERM'];

/** A process may exit or close its descriptors while it is read. */
async function orNothing<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (GONE.includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}
