import type { EbpfSettings, IpvsSettings, UserspaceSettings } from '../config/settings.ts';
import type { DataPlane } from '../dataplanes/contract.ts';
import type { NeededSysctl } from '../linux/needed-sysctl.ts';
import type { Netlink } from '../linux/netlink/netlink-socket.ts';

/** What a part may need from the program it runs in. */
export interface Surroundings {
  readonly ebpf?: EbpfSettings;
  readonly userspace?: UserspaceSettings;
  readonly ipvs?: IpvsSettings;
  /** Where the sockets of a running Fairlead are; undefined: the usual folder. */
  readonly runFolder?: string;
  /** A removal lasts until a process of the mode has ended, which has only seconds to do so. */
  readonly isCleanup?: true;
  readonly onWarning?: (message: string) => void;
  /** Called before node ports are served on loopback. */
  readonly serveLocalhost?: () => Promise<void>;
  /** Sets a sysctl that exists only after the mode's kernel module was used; `cleanup` restores it. */
  readonly setSysctl?: (needed: NeededSysctl) => Promise<void>;
  /** In place of the kernel's own, where faults are planted in what it answers. */
  readonly openNetlink?: (kind: 'requests' | 'events') => Netlink;
}

/** How `fairlead status` speaks of the attachments of one kind. */
export interface AttachmentWords {
  /** `place` of the attachments. */
  readonly place: string;
  /** Heading in the table of all of them. */
  readonly title: string;
  /** One of them, to be counted. Undefined: the summary names them in another way. */
  readonly noun?: string;
  /** Whether packets or sockets meet it before any rules. */
  readonly isHook: boolean;
  /** What stands before the name of one of them. */
  readonly one: string;
}

/** Objects in the kernel that are written and removed together. Several modes may have the same part. */
export interface Part {
  /** As `fairlead cleanup` prints it. */
  readonly name: string;
  /** Opens nothing in the kernel yet. */
  open(around: Surroundings): DataPlane;
}
