import { join } from 'node:path';
import { RUN_FOLDER } from '../../config/run-folder.ts';
import { DEFAULT_EBPF, type Settings } from '../../config/settings.ts';
import {
  cgroup2Root,
  findCgroup2Root,
  makePinFolder,
  releasePinFolder,
  unmountOwn,
} from '../../linux/ebpf/folders.ts';
import { netnsCookie } from '../../linux/ebpf/netns-cookie.ts';
import { assertMayLoad } from '../../linux/ebpf/permission.ts';
import {
  PACKET_PROGRAMS,
  readPrograms,
  SOCKET_PROGRAMS,
} from '../../linux/ebpf/shipped-programs.ts';
import { listLinks, watchLinks } from '../../linux/route/watch-links.ts';
import type { Part, Surroundings } from '../../modes/part.ts';
import type { HooksOptions, PacketOptions } from './plane/ebpf-options.ts';
import { HooksPlane } from './plane/hooks-plane.ts';

export interface HooksPart extends Part {
  open(around: Surroundings): HooksPlane;
}

/** Both modes have the same maps, pins and socket hooks: removing one part removes the other. */
const NAME = 'ebpf hooks';

/** Pods are translated when they connect. */
export const SOCKET_HOOKS_PART: HooksPart = {
  name: NAME,
  open: (around) => new HooksPlane(hooksOptions(around)),
};

/** Pods are translated by the packets that they send; sockets of the node when they connect. */
export const PACKET_HOOKS_PART: HooksPart = {
  name: NAME,
  open: (around) =>
    new HooksPlane({
      ...hooksOptions(around),
      packets: packetOptions(around.ebpf?.interfaces ?? []),
    }),
};

/** In place of the kernel's maps, where faults are planted in them. */
export type HooksSurroundings = Surroundings & Pick<HooksOptions, 'openTables'>;

function hooksOptions({ ebpf = DEFAULT_EBPF, openTables }: HooksSurroundings): HooksOptions {
  const { cgroupPath, pinFolder } = ebpf;
  return {
    ...(openTables ? { openTables } : {}),
    readObject: () => {
      assertMayLoad();
      return readPrograms(SOCKET_PROGRAMS);
    },
    cgroupPath: () => cgroupPath ?? cgroup2Root(OWN_CGROUPS),
    findCgroup: () => cgroupPath ?? findCgroup2Root(OWN_CGROUPS),
    pinFolder,
    preparePins: () => makePinFolder(pinFolder),
    releasePins: () => {
      releasePinFolder(pinFolder);
      unmountOwn(OWN_CGROUPS);
    },
    hostCookie: netnsCookie,
  };
}

function packetOptions(interfaces: readonly string[]): PacketOptions {
  return {
    readObject: () => readPrograms(PACKET_PROGRAMS),
    interfaces,
    listLinks,
    // No settling time: until an interface has the program, nftables translates its packets.
    watchLinks: (onChange, signal) => watchLinks(onChange, signal, { settleMs: 0 }),
  };
}

/** Mounted where the machine has no cgroup2 hierarchy. */
const OWN_CGROUPS = join(RUN_FOLDER, 'cgroup');

/**
 * Mounts the file systems that programs in the kernel need and the machine lacks. An init container
 * with privileges does it: a mount of the unprivileged one would be visible to itself alone.
 */
export function mountForPrograms({ ebpf: { cgroupPath, pinFolder } }: Settings): void {
  makePinFolder(pinFolder);
  if (cgroupPath === undefined) cgroup2Root(OWN_CGROUPS);
}
