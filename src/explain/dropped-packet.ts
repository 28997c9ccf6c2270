/** Addresses and ports of a packet, as it was when it was dropped. */
export interface PacketTuple {
  readonly protocol: number;
  readonly source: string;
  readonly sourcePort: number;
  readonly destination: string;
  readonly destinationPort: number;
}

/** A packet that the kernel dropped, as src/linux/drops reports it. */
export interface DroppedPacket {
  /** The kernel's name for the reason; undefined: this kernel gives none. */
  readonly reason: string | undefined;
  /** The kernel function that dropped it; undefined: not known. */
  readonly function: string | undefined;
  readonly networkNamespace: number;
  readonly device: string;
  readonly packet: PacketTuple;
  /** The first packet of the connection, before any translation. */
  readonly original: PacketTuple | undefined;
}

/** The rule that dropped it, as a trace names it. */
export interface DroppingRule {
  /** `ip`, `ip6`, `inet`. */
  readonly family: string;
  readonly table: string;
  readonly chain: string;
  /** Undefined: the policy of the chain. */
  readonly handle?: string;
}

/** What the machine says of itself, where the packet was dropped in its own network namespace. */
export interface DropFacts {
  /** Whether it forwards packets of the family. */
  readonly isForwarding?: boolean;
  /** The larger one of `all` and the interface. */
  readonly rpFilter?: number;
  /** The interface is down, or has no carrier. */
  readonly linkIsDown?: true;
  readonly conntrack?: {
    readonly count: number;
    readonly max: number;
    /** Packets that found no room since the watch began. */
    readonly dropped: number;
  };
}

/** Why the packet was dropped, and what to do. */
export interface DropCause {
  readonly code: DropCode;
  readonly sentence: string;
  readonly next: readonly string[];
}

/** A drop that tells what became of a connection. */
export interface SeenDrop extends DroppedPacket {
  /** Whether it happened in the network namespace of this process. */
  readonly isHere: boolean;
  readonly cause: DropCause;
}

/** Codes of what the kernel does to a packet, whatever the rows say. */
export type DropCode =
  | 'DROPPED_BY_RULE'
  | 'DROPPED_BY_PROGRAM'
  | 'DROPPED_REVERSE_PATH'
  | 'DROPPED_BY_KERNEL'
  | 'NOT_FORWARDED'
  | 'NO_ROUTE'
  | 'NO_NEIGHBOUR'
  | 'CONNTRACK_FULL'
  | 'TOO_BIG'
  | 'ENDPOINT_REFUSES'
  | 'ENDPOINT_OVERLOADED';
