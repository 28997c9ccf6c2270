import { readdir, readFile } from 'node:fs/promises';

/** The last CPU that this process may use: the first has most of the interrupts. */
export async function lastCpu(): Promise<number> {
  const status = await readFile('/proc/self/status', 'utf8');
  const [, last] = /^Cpus_allowed_list:.*?(\d+)$/m.exec(status) ?? [];
  return Number(last ?? 0);
}

/** The kernel's thread that handles packets of that CPU when softirq work is deferred. */
export async function packetThread(cpu: number): Promise<number[]> {
  const found: number[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const command = await readUnlessGone(`/proc/${name}/comm`);
    if (command.trim() === `ksoftirqd/${cpu}`) found.push(Number(name));
  }
  return found;
}

/** A process may exit while /proc is read. */
async function readUnlessGone(path: string): Promise<string> {
  return await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ESRCH') return '';
    throw error;
  });
}
