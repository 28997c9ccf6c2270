/** One side of a connection; without an address: the port at any address. */
export interface End {
  readonly address?: string;
  readonly port: number;
  /** As in the IP header: 6, 17 or 132. */
  readonly protocol: number;
}

/** Ports are 0 where a packet has none, such as in the later fragments of a datagram. */
export interface Tuple {
  readonly protocol: number;
  readonly source: string;
  readonly sourcePort: number;
  readonly destination: string;
  readonly destinationPort: number;
}

/** A packet that the kernel dropped. */
export interface Drop {
  /** Of enum skb_drop_reason, without its prefix; undefined: this kernel gives no reasons. */
  readonly reason: string | undefined;
  /** The kernel function that dropped it; undefined: addresses of the kernel are hidden from us. */
  readonly function: string | undefined;
  /** Its inode number. */
  readonly networkNamespace: number;
  /** Empty: it had none yet. */
  readonly device: string;
  readonly packet: Tuple;
  /** The first packet of the connection, before any translation; undefined: not in conntrack. */
  readonly original: Tuple | undefined;
}

export interface DropWatch {
  /** Whether drops have a reason. */
  readonly hasReasons: boolean;
  /** Drops since the last call, oldest first. */
  read(): readonly Drop[];
  /** How many had no room because `read` was not called in time. */
  lost(): number;
}
