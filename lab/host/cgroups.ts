import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from './until.ts';

const ROOT = '/sys/fs/cgroup';
/** Every group the lab makes starts with this, so that leftovers are known without a record. */
const OWNED_PREFIX = 'fairlead-';
const EMPTY_DEADLINE_MS = 20_000;

/** Name of the group that holds the pods of one node. */
export function cgroupName(of: { lab: string; role: string }): string {
  return `${OWNED_PREFIX}${of.lab}-${of.role}`;
}

/** The machine still has a hierarchy for each controller, as before cgroup v2. */
export function hasSeparateHierarchies(): boolean {
  return !existsSync(join(ROOT, 'cgroup.controllers'));
}

/**
 * A group's folder among those of version 2, to which programs can be attached. A machine with
 * separate hierarchies may have them beside, and runc then puts every container there as well;
 * undefined: it has none.
 */
export function version2Path(name: string): string | undefined {
  const roots = [ROOT, join(ROOT, 'unified')];
  const root = roots.find((folder) => existsSync(join(folder, 'cgroup.controllers')));
  return root && join(root, name);
}

/** Makes the group in every hierarchy; a kubelet expects its root to be there. */
export async function makeCgroup(name: string): Promise<void> {
  for (const hierarchy of await hierarchies()) {
    const folder = join(hierarchy, name);
    await mkdir(folder, { recursive: true });
    // A cpuset without CPUs and memory takes no process, and a new one has neither.
    for (const file of ['cpuset.cpus', 'cpuset.mems']) {
      const ofParent = join(hierarchy, file);
      if (existsSync(ofParent)) await writeFile(join(folder, file), await readFile(ofParent));
    }
  }
}

/** Bounds what the processes of the group may take together, where its memory is accounted for. */
export async function limitMemory(name: string, bytes: number): Promise<void> {
  for (const hierarchy of await hierarchies()) {
    for (const file of ['memory.max', 'memory.limit_in_bytes']) {
      const path = join(hierarchy, name, file);
      if (existsSync(path)) await writeFile(path, `${bytes}`);
    }
  }
}

/** Removes one cgroup and those below it, after its killed processes have exited. */
export async function removeCgroup(name: string): Promise<void> {
  for (const hierarchy of await hierarchies()) {
    const folder = join(hierarchy, name);
    if (existsSync(folder)) await untilRemoved(folder);
  }
}

/** Removes the cgroups of a lab, after their killed processes have exited. */
export async function removeCgroups(lab: string): Promise<void> {
  const prefix = cgroupName({ lab, role: '' });
  for (const hierarchy of await hierarchies()) {
    const names = await readdir(hierarchy);
    for (const name of names.filter((candidate) => candidate.startsWith(prefix))) {
      await untilRemoved(join(hierarchy, name));
    }
  }
}

async function untilRemoved(folder: string): Promise<void> {
  await until(() => removeTree(folder), {
    what: `the processes of ${folder} to be gone`,
    deadlineMs: EMPTY_DEADLINE_MS,
  });
}

/** True once it is removed: rmdir(2) removes the files of a cgroup, but not its children. */
async function removeTree(folder: string): Promise<boolean> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory() && !(await removeTree(join(folder, entry.name)))) return false;
  }
  return await rmdir(folder).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'EBUSY') return false;
      throw error;
    },
  );
}

async function hierarchies(): Promise<string[]> {
  if (!existsSync(ROOT)) return [];
  if (!hasSeparateHierarchies()) return [ROOT];
  const entries = await readdir(ROOT, { withFileTypes: true });
  // cpu and cpuacct may be links to one hierarchy of both.
  return entries.filter((entry) => entry.isDirectory()).map((entry) => join(ROOT, entry.name));
}
