import type { BpfObject } from '../../linux/bpf/object.ts';
import type { MachineLink } from '../../linux/route/link-codec.ts';
import type { OpenTables } from './kernel.ts';

/** What the plane needs of the machine and of the program it runs in. */
export interface HooksOptions {
  readonly readObject: () => BpfObject;
  /** The folder of the control group whose sockets are led to endpoints. */
  readonly cgroupPath: () => string;
  /** The same for who takes away: it makes nothing for it. Undefined: there is none. */
  readonly findCgroup: () => string | undefined;
  readonly pinFolder: string;
  /** Makes the folder, and the file system that it needs; nothing where both are there. */
  readonly preparePins: () => void;
  /** The folder has gone: so may what was mounted for it. */
  readonly releasePins: () => void;
  /** What stands for the node itself. */
  readonly hostCookie: () => bigint;
  /** Pods are met as packets, and only the node's own sockets as sockets. */
  readonly packets?: PacketOptions;
  /** The maps as they are written through; a test gives some whose writes fail. */
  readonly openTables?: OpenTables;
}

export interface PacketOptions {
  readonly readObject: () => BpfObject;
  /** Names of the interfaces to serve, with `*` for anything; none: all but loopback. */
  readonly interfaces: readonly string[];
  readonly listLinks: () => Promise<readonly MachineLink[]>;
  /** Tells all links, and again all of them after each change. */
  readonly watchLinks: (
    onChange: (links: readonly MachineLink[]) => void,
    signal: AbortSignal,
  ) => Promise<void>;
}
