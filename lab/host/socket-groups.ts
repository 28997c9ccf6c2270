import { existsSync, writeFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { cgroupName } from './cgroups.ts';

const ROOTS = ['/sys/fs/cgroup', '/sys/fs/cgroup/unified'];

/**
 * A control group for each host, so that this one process can make sockets in any of them. A socket
 * belongs for life to the group its thread was in when it was made; in groups of the kind
 * "threaded" a thread can step from one to the other by itself, and the kernel lets it do so without
 * waiting for anybody.
 */
export class SocketGroups {
  readonly #lab: string;
  #hosts = new Map<string, string>();
  #home: string | undefined;

  constructor(lab: string) {
    this.#lab = lab;
  }

  ofHost(host: string): string | undefined {
    return this.#hosts.get(host);
  }

  /** Makes the groups and moves this process above them. */
  async make(hosts: readonly string[]): Promise<void> {
    if (this.#hosts.size > 0) return;
    const root = rootFolder();
    const above = socketGroupFolder(this.#lab);
    await mkdir(above, { recursive: true });
    for (const host of hosts) {
      const folder = join(above, host);
      await mkdir(folder, { recursive: true });
      await writeFile(join(folder, 'cgroup.type'), 'threaded');
      this.#hosts.set(host, folder);
    }
    this.#home = join(root, await ownGroup());
    await writeFile(join(above, 'cgroup.procs'), String(process.pid));
  }

  /** Back to where it came from: a group with a process in it cannot be removed. */
  async leave(): Promise<void> {
    const home = this.#home;
    this.#home = undefined;
    this.#hosts = new Map();
    if (home !== undefined) await writeFile(join(home, 'cgroup.procs'), String(process.pid));
  }
}

/** Holds a group for each host, by its name; there once a proxy that serves sockets was started. */
export function socketGroupFolder(lab: string): string {
  return join(rootFolder(), cgroupName({ lab, role: 'sockets' }));
}

/** The command in a cgroup: a shell moves itself there, and then becomes it. */
export function inControlGroup(
  group: string,
  argv: readonly [string, ...string[]],
): readonly [string, ...string[]] {
  return ['sh', '-c', 'echo 0 >"$0/cgroup.procs" && exec "$@"', group, ...argv];
}

/** Moves this thread to a child cgroup, calls a synchronous function there, and moves back. */
export function inGroup<T>(folder: string, work: () => T): T {
  enter(folder);
  try {
    return work();
  } finally {
    enter(dirname(folder));
  }
}

function enter(folder: string): void {
  // 0: the thread that writes.
  writeFileSync(join(folder, 'cgroup.threads'), '0');
}

/** The path of version 2 is the line that names no controller. */
async function ownGroup(): Promise<string> {
  const lines = (await readFile('/proc/self/cgroup', 'utf8')).split('\n');
  return lines.find((line) => line.startsWith('0::'))?.slice('0::'.length) ?? '/';
}

function rootFolder(): string {
  const root = ROOTS.find(
    (folder) => existsSync(join(folder, 'cgroup.procs')) && isVersion2(folder),
  );
  return root ?? '/sys/fs/cgroup';
}

function isVersion2(folder: string): boolean {
  return existsSync(join(folder, 'cgroup.controllers'));
}
