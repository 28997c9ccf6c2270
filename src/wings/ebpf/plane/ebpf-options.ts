import type { BpfObject } from '../../../linux/ebpf/bpf-object.ts';
import type { MachineLink } from '../../../linux/route/link-codec.ts';
import type { OpenTables } from './ebpf-kernel.ts';

/** What the plane needs from the machine and from the program it runs in. */
export interface HooksOptions {
  readonly readObject: () => BpfObject;
  /** The path of the cgroup whose sockets are served. */
  readonly cgroupPath: () => string;
  /** The same for a removal, which creates nothing. Undefined: it does not exist. */
  readonly findCgroup: () => string | undefined;
  readonly pinFolder: string;
  /** Creates the folder and mounts the bpf file system, where they are missing. */
  readonly preparePins: () => void;
  /** The folder was deleted: the file system that was mounted for it may be unmounted. */
  readonly releasePins: () => void;
  /** The cookie of the node's network namespace. */
  readonly hostCookie: () => bigint;
  /** Traffic of pods is served as packets, and only that of the node's own sockets at the sockets. */
  readonly packets?: PacketOptions;
  /** The maps to write through; a test passes some whose writes fail. */
  readonly openTables?: OpenTables;
}

export interface PacketOptions {
  readonly readObject: () => BpfObject;
  /** Names of the interfaces to serve, with `*` for anything; none: all but loopback. */
  readonly interfaces: readonly string[];
  readonly listLinks: () => Promise<readonly MachineLink[]>;
  /** Reports all links, and the full list again after each change. */
  readonly watchLinks: (
    onChange: (links: readonly MachineLink[]) => void,
    signal: AbortSignal,
  ) => Promise<void>;
}
