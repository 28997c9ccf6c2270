export type IpvsProtocol = 'TCP' | 'UDP' | 'SCTP';

/** What identifies a virtual server. The family is that of the address. */
export interface VirtualServerKey {
  readonly protocol: IpvsProtocol;
  /** Canonical, as `src/addresses` writes it. */
  readonly address: string;
  readonly port: number;
}

/** A virtual server: `ipvsadm -A`. */
export interface VirtualServer extends VirtualServerKey {
  /** `rr`, `lc`, `mh` and so on, as the kernel names it. */
  readonly scheduler: string;
  /**
   * Flags of the scheduler (`-b`), sorted: `sh-port`, `sh-fallback`, `mh-port`, `mh-fallback`. Of a
   * server that another process wrote also what is never written: `ops`, `netmask`, `pe`, `unmarked`.
   */
  readonly schedulerFlags: readonly string[];
  /** How long a client keeps its destination (`-p`), one client an address; 0: not at all. */
  readonly persistenceSeconds: number;
}

/** A destination of a virtual server: `ipvsadm -a -m`. Only masquerading ones are written. */
export interface Destination {
  readonly address: string;
  readonly port: number;
  readonly weight: number;
}

/** A destination as the kernel has it, with what it counts. */
export interface DestinationState extends Destination {
  readonly activeConnections: number;
  readonly inactiveConnections: number;
  /** How packets reach it; absent: masqueraded, as all that are written. */
  readonly forwarding?: 'local' | 'tunnel' | 'route';
}

/** Totals of a destination since it was added; before Linux 6.2 up to 2 s old. */
export interface DestinationCount {
  /** Clients that keep this destination now. */
  readonly persistentConnections: number;
  readonly connections: number;
  readonly packetsIn: number;
  readonly packetsOut: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

export interface VirtualServerState {
  readonly server: VirtualServer;
  /** In the order of the kernel, which has the newest first. */
  readonly destinations: readonly DestinationState[];
}

export type IpvsWrite =
  | { readonly do: 'add-server' | 'set-server'; readonly server: VirtualServer }
  | { readonly do: 'delete-server'; readonly server: VirtualServerKey }
  | {
      readonly do: 'add-destination' | 'set-destination' | 'delete-destination';
      readonly server: VirtualServerKey;
      readonly destination: Destination;
    };

/** A write that the kernel rejected. All others of the same call were done. */
export interface IpvsRejection {
  readonly write: IpvsWrite;
  readonly errno: number;
}

/** Seconds after which an idle connection is forgotten; 0: as it is. */
export interface IpvsTimeouts {
  readonly tcpSeconds: number;
  readonly tcpFinSeconds: number;
  readonly udpSeconds: number;
}

/** `begin`: some virtual servers, always the same while nothing changes. */
export type FingerprintExtent = 'whole' | 'begin';

/**
 * The configuration as one number, without connections and in no order: where it is the same, no
 * virtual server, scheduler, persistence, destination or weight has changed. Scheduler flags are not
 * in it.
 */
export interface IpvsFingerprint {
  readonly digest: string;
  /**
   * Fewer than `read()` gave: some are gone, or the kernel leaves some out because another network
   * namespace has virtual servers too. Only `read()` tells which.
   */
  readonly virtualServers: number;
  readonly destinations: number;
}

/**
 * IPVS of the network namespace of the calling thread. Rejects with a NetlinkError, or with an
 * IpvsError where the kernel has no IPVS.
 */
export interface Ipvs {
  /** In this order, many messages a send; there is no transaction: rejections stop nothing. */
  write(writes: readonly IpvsWrite[]): Promise<readonly IpvsRejection[]>;
  /** Which of these virtual servers there are, of whatever process: one question each. */
  existing(servers: readonly VirtualServerKey[]): Promise<ReadonlySet<string>>;
  /** Everything but virtual servers for packet marks, by `virtualServerId`. */
  read(): Promise<ReadonlyMap<string, VirtualServerState>>;
  /** Destinations of some, with one question each; a server that is gone is left out. */
  destinationsOf(
    servers: readonly VirtualServerKey[],
  ): Promise<ReadonlyMap<string, readonly (DestinationState & DestinationCount)[]>>;
  /** At most half the cost of `read()`; only the begin costs next to nothing. */
  fingerprint(extent?: FingerprintExtent): Promise<IpvsFingerprint>;
  timeouts(): Promise<IpvsTimeouts>;
  setTimeouts(timeouts: IpvsTimeouts): Promise<void>;
}

/** `10.96.0.10 TCP 80`: unique for a virtual server. */
export function virtualServerId({ address, protocol, port }: VirtualServerKey): string {
  return `${address} ${protocol} ${port}`;
}
