import { chmodSync, mkdirSync, readdirSync, readFileSync, rmdirSync, statfsSync } from 'node:fs';
import { resolve } from 'node:path';
import koffi from 'koffi';
import { BpfError, errnoName } from './bpf-error.ts';

/** linux/magic.h */
const BPF_FILE_SYSTEM = 0xcafe4a11;
const CGROUP2_FILE_SYSTEM = 0x63677270;
const MS_NOSUID = 2;
const MS_NODEV = 4;
const MS_NOEXEC = 8;
/** A process that can open a pin can change the object behind it. */
const ONLY_ROOT = 0o700;

/** Source of our mounts in the list of mounts. */
const OWN_MOUNT = 'fairlead';

const BPF_MOUNT = '/sys/fs/bpf';
const CGROUP_MOUNTS = ['/sys/fs/cgroup', '/sys/fs/cgroup/unified'];

const mount: (...args: [string, string, string, number, null]) => number = koffi
  .load('libc.so.6')
  .func('int mount(str source, str target, str type, unsigned long flags, void *data)');

const umount: (target: string) => number = koffi.load('libc.so.6').func('int umount(str target)');

/**
 * Creates a folder for pins that only root can enter. If no bpf file system is mounted there,
 * mounts one at the folder itself, since the folders above belong to others.
 */
export function makePinFolder(folder: string): void {
  if (isBelow(folder, BPF_MOUNT) && !isOnBpf(BPF_MOUNT)) mountAt(BPF_MOUNT, 'bpf');
  mkdirSync(folder, { recursive: true, mode: ONLY_ROOT });
  if (!isOnBpf(folder)) {
    if (readdirSync(folder).length > 0) throw wouldHide(folder);
    mountAt(resolve(folder), 'bpf');
  }
  // Also for an existing folder, which may have other permissions.
  chmodSync(folder, ONLY_ROOT);
}

/** Unmounts our mount, unless it is in use; returns whether it did. */
export function releasePinFolder(folder: string): void {
  if (unmountOwn(resolve(folder))) rmdirSync(folder);
  unmountOwn(BPF_MOUNT);
}

/** Only there are pins; a folder that does not exist is nowhere. */
export function isOnBpf(folder: string): boolean {
  return isOfType(folder, BPF_FILE_SYSTEM);
}

function isBelow(folder: string, mountPoint: string): boolean {
  return resolve(folder).startsWith(`${mountPoint}/`);
}

function wouldHide(folder: string): BpfError {
  const message = `cannot mount bpf at ${folder}: the folder is not empty, and the mount would hide its contents`;
  const next =
    'set a folder in a bpf file system, such as /sys/fs/bpf/fairlead, or an empty folder';
  return new BpfError('BPF_FAILED', message, { next });
}

/**
 * Where the groups of version 2 are. A machine that still uses version 1 may have them mounted
 * nowhere; then they are mounted in the folder given, beside all else.
 */
export function cgroup2Root(ownMountPoint: string): string {
  const known = findCgroup2Root(ownMountPoint);
  if (known !== undefined) return known;
  mountAt(ownMountPoint, 'cgroup2');
  return ownMountPoint;
}

/** The same without a mount: undefined where there is none. */
export function findCgroup2Root(ownMountPoint: string): string | undefined {
  return [...CGROUP_MOUNTS, ownMountPoint].find((folder) => isOfType(folder, CGROUP2_FILE_SYSTEM));
}

/** Unmounts what we have mounted there, unless it is in use; returns whether it did. */
export function unmountOwn(mountPoint: string): boolean {
  if (ownerOfMount(mountPoint) !== OWN_MOUNT || !isUnused(mountPoint)) return false;
  return umount(mountPoint) === 0;
}

/** The kernel puts two files of its own into each, with a dot that no pin can have. */
function isUnused(mountPoint: string): boolean {
  // A group without our mount is the same group.
  if (isOfType(mountPoint, CGROUP2_FILE_SYSTEM)) return true;
  return readdirSync(mountPoint).every((name) => name.endsWith('.debug'));
}

/** The last of those that were mounted there is the one that is seen. */
function ownerOfMount(mountPoint: string): string | undefined {
  const lines = readFileSync('/proc/self/mounts', 'utf8').split('\n');
  return lines.findLast((line) => line.split(' ')[1] === mountPoint)?.split(' ')[0];
}

function mountAt(folder: string, type: 'bpf' | 'cgroup2'): void {
  mkdirSync(folder, { recursive: true, mode: ONLY_ROOT });
  if (mount(OWN_MOUNT, folder, type, MS_NOSUID | MS_NODEV | MS_NOEXEC, null) === 0) return;
  const errno = koffi.errno();
  throw new BpfError('BPF_FAILED', `cannot mount ${type} at ${folder}: ${errnoName(errno)}`, {
    errno,
    next: `mount it on the machine (mount -t ${type} ${type} ${folder}) and pass it to the container`,
  });
}

function isOfType(folder: string, type: number): boolean {
  try {
    return statfsSync(folder).type === type;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
