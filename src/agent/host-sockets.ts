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
   * Tells all of them soon after the start, and again all of them after each change, until the
   * signal is aborted; resolves then.
   */
  run(onChange: (sockets: readonly HeldPort[]) => void, signal: AbortSignal): Promise<void>;
  /** Who has which, by inode, as far as it can be seen from here. */
  owners(inodes: ReadonlySet<number>): Promise<ReadonlyMap<number, SocketOwner>>;
}
