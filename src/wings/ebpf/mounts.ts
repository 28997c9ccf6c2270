import { join } from 'node:path';
import { RUN_FOLDER } from '../../config/run-folder.ts';
import type { Settings } from '../../config/settings.ts';
import { cgroup2Root, makePinFolder } from '../../linux/ebpf/folders.ts';

/** Mounted where the machine has no cgroup2 hierarchy. */
export const OWN_CGROUPS = join(RUN_FOLDER, 'cgroup');

/**
 * Mounts the file systems that programs in the kernel need and the machine lacks. An init container
 * with privileges does it: a mount of the unprivileged one would be visible to itself alone.
 */
export function mountForPrograms({ ebpf: { cgroupPath, pinFolder } }: Settings): void {
  makePinFolder(pinFolder);
  if (cgroupPath === undefined) cgroup2Root(OWN_CGROUPS);
}
