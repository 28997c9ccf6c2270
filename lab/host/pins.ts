import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { run, tryRun } from './run.ts';

/** Where a node's proxy keeps its programs: in a file system of the lab's own. */
export function pinFolder(labFolder: string, nodeName: string): string {
  return join(mountPoint(labFolder), nodeName);
}

/** Once for all nodes: two that mounted it at the same time would hide each other's. */
export async function mountPins(labFolder: string): Promise<void> {
  const folder = mountPoint(labFolder);
  await mkdir(folder, { recursive: true });
  if (!(await isMounted(folder))) await run(['mount', '-t', 'bpf', 'bpf', folder]);
}

/** What only a pin has kept in the kernel goes with it. */
export async function unmountPins(labFolder: string): Promise<void> {
  const folder = mountPoint(labFolder);
  if (existsSync(folder) && (await isMounted(folder))) await run(['umount', folder]);
}

function mountPoint(labFolder: string): string {
  return join(labFolder, 'bpf');
}

async function isMounted(folder: string): Promise<boolean> {
  return (await tryRun(['mountpoint', '-q', folder])).exitCode === 0;
}
