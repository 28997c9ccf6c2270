import { join } from 'node:path';

export interface BootScript {
  /** Read-only: the root that several machines share. */
  readonly lower: string;
  /** Folder of this machine, with `upper`, `work` and `root`. */
  readonly folder: string;
  /** Files of this machine that appear in the root, read-only: path there, path here. */
  readonly programs: readonly (readonly [string, string])[];
}

const DEVICES = ['full', 'null', 'random', 'tty', 'urandom', 'zero'];
/** What would change this machine and not a namespace of it. */
const DROPPED_CAPABILITIES = ['sys_module', 'sys_rawio', 'sys_time', 'mac_admin', 'mac_override'];

/**
 * The first process of the machine until systemd takes its place. It runs in namespaces of its own.
 * Kernel settings are read-only except those of the network, as systemd-nspawn has it.
 */
export function bootScript(of: BootScript): string {
  const root = join(of.folder, 'root');
  const overlay = `lowerdir=${of.lower},upperdir=${of.folder}/upper,workdir=${of.folder}/work`;
  const dropped = DROPPED_CAPABILITIES.map((name) => `-${name}`).join(',');
  const lines = [
    'set -e',
    'mount --make-rprivate /',
    `mount -t overlay overlay -o ${overlay} ${root}`,
    `cd ${root}`,
    'mount -t proc proc proc',
    'mount --bind proc/sys proc/sys',
    'mount --bind proc/sys/net proc/sys/net',
    'mount -o remount,bind,ro proc/sys',
    'mount -t sysfs -o ro sysfs sys',
    'mount -t cgroup2 cgroup2 sys/fs/cgroup',
    'mount -t tmpfs -o mode=755,size=1m tmpfs dev',
    ...DEVICES.map((name) => `touch dev/${name}; mount --bind /dev/${name} dev/${name}`),
    'mkdir dev/pts dev/shm',
    'mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts dev/pts',
    'ln -s pts/ptmx dev/ptmx',
    'mount -t tmpfs -o mode=755,size=64m tmpfs run',
    ...of.programs.flatMap(([path, source]) => [
      `mkdir -p .$(dirname ${path}); touch .${path}`,
      `mount --bind ${source} .${path}; mount -o remount,bind,ro .${path}`,
    ]),
    'mkdir -p mnt/machine',
    'pivot_root . mnt/machine',
    'umount -l mnt/machine',
    // `container` tells systemd to leave clock, console and kernel log alone.
    `exec env -i container=lab PATH=/usr/sbin:/usr/bin:/sbin:/bin ` +
      `setpriv --bounding-set ${dropped} /lib/systemd/systemd`,
  ];
  return `${lines.join('\n')}\n`;
}
