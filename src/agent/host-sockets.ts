import type { HostSocket } from '../forwarding/host-ports.ts';

/** A port that a process of the machine holds. */
export interface HeldPort extends HostSocket {
  /** By which its process can be found. */
  readonly inode: number;
}

/** The program that has a socket. */
export interface SocketOwner {
  readonly pid: number;
  readonly program: string;
}

/** The ports that processes of the machine hold at present. */
export interface HostSockets {
  /**
   * Reports all of them soon after the start, and the full list again after each change, until the
   * signal is aborted; resolves then.
   */
  run(onChange: (sockets: readonly HeldPort[]) => void, signal: AbortSignal): Promise<void>;
  /** The owning processes by inode, as far as they are visible from here. */
  owners(inodes: ReadonlySet<number>): Promise<ReadonlyMap<number, SocketOwner>>;
}
