import { closeSync, constants, mkdirSync, mkdtempSync, openSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { enterOwnMounts, run } from '../../netlink/testing/own-namespace.ts';
import { cgroup2Root, makePinFolder } from '../folders.ts';

/** A cgroup and a folder for pins that no other process uses. */
export interface OwnPlace {
  readonly cgroup: string;
  readonly cgroupFd: number;
  readonly pins: string;
  leave(): void;
}

/** The mounts are visible to this process only; `leave` removes everything. */
export function ownPlace(name: string): OwnPlace {
  enterOwnMounts();
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-bpf-'));
  const pins = join(folder, 'bpf/pins');
  makePinFolder(join(folder, 'bpf'));
  makePinFolder(pins);
  const ownCgroups = join(folder, 'cgroup');
  const root = cgroup2Root(ownCgroups);
  const cgroup = join(root, `fairlead-test-${name}-${process.pid}`);
  mkdirSync(cgroup);
  const cgroupFd = openSync(cgroup, constants.O_RDONLY | constants.O_DIRECTORY);
  const leave = (): void => {
    closeSync(cgroupFd);
    removeGroup(cgroup);
    run(['umount', join(folder, 'bpf')]);
    if (root === ownCgroups) run(['umount', ownCgroups]);
    rmSync(folder, { recursive: true });
  };
  return { cgroup, cgroupFd, pins, leave };
}

const REMOVAL_DEADLINE_MS = 10_000;
const REMOVAL_PAUSE_MS = 20;

/** A process that has ended is in its group for a moment longer. */
function removeGroup(path: string): void {
  const deadlineMs = performance.now() + REMOVAL_DEADLINE_MS;
  for (;;) {
    try {
      rmdirSync(path);
      return;
    } catch (error) {
      const isBusy = (error as NodeJS.ErrnoException).code === 'EBUSY';
      if (!isBusy || performance.now() > deadlineMs) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, REMOVAL_PAUSE_MS);
    }
  }
}
