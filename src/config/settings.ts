import type { ModeName } from './modes.ts';
import type { ListenAddress } from './network-text.ts';

/** The resolved settings for the chosen mode. Frozen. */
export interface Settings {
  readonly mode: ModeName;
  /** Undefined: the host name of the machine. */
  readonly nodeName?: string;
  readonly nodeObject: 'expected' | 'none';
  /** Overrides the address of this family in the Node object, and makes the family primary. */
  readonly nodeAddress?: string;
  readonly api: ApiSettings;
  /** Undefined: no health server. */
  readonly healthServer?: ListenAddress;
  readonly metricsServer: ListenAddress;
  /** Service ports with metrics of their own. */
  readonly serviceMetrics: number;
  readonly endsWhenServerFails: boolean;
  readonly localTraffic: LocalTraffic;
  /** Pod CIDRs of the whole cluster; empty: not known. */
  readonly podNetworks: readonly string[];
  readonly nodePorts: NodePortSettings;
  /** Which Service gets an address that several claim, and which external IPs are served. */
  readonly addressRules: 'strict' | 'kube-proxy';
  readonly clients: ClientSettings;
  readonly servedAddresses: ServedAddressSettings;
  /** Undefined: that of the Node object. */
  readonly zone?: string;
  /** The Services that are read and served. Undefined: all. */
  readonly scope?: ScopeSettings;
  /** CIDRs to use instead of ServiceCIDR objects. Empty: the objects are watched, if they are trusted. */
  readonly serviceRanges: readonly string[];
  /** Whether routes are added for Service ranges that no other route covers. */
  readonly serviceRoutes: 'missing' | 'none';
  readonly podNetwork: 'routed' | 'api-server';
  /** Where names of Services are answered; undefined: nowhere. */
  readonly dnsStub?: ListenAddress;
  /** Addresses of the DNS Service. Empty: not configured. */
  readonly clusterDns: readonly string[];
  readonly clusterDomain: string;
  readonly masquerade: { readonly all: boolean; readonly markBit: number };
  /**
   * Longest delay before a failed change is retried; a change that waits twice as long makes the
   * proxy unhealthy.
   */
  readonly syncPeriodMs: number;
  readonly conntrack: ConntrackSettings;
  readonly ipvs: IpvsSettings;
  readonly ebpf: EbpfSettings;
  readonly userspace: UserspaceSettings;
  readonly oomScoreAdj: number;
  readonly features: FeatureSettings;
  readonly log: { readonly format: 'text' | 'json'; readonly verbosity: number };
}

export interface ApiSettings {
  /** Undefined: the service account of the pod. */
  readonly kubeconfigPath?: string;
  /** Overrides the address in the kubeconfig. */
  readonly serverUrl?: string;
  /** Media types for the Accept header; undefined: the cheapest. */
  readonly accept?: string;
}

/** How traffic of local pods is detected. */
export type LocalTraffic =
  | { readonly by: 'ClusterCIDR'; readonly cidrs: readonly string[] }
  | { readonly by: 'NodeCIDR' }
  | { readonly by: 'BridgeInterface'; readonly interfaceName: string }
  | { readonly by: 'InterfaceNamePrefix'; readonly prefix: string };

export interface NodePortSettings {
  /**
   * A list has ranges, and `primary` for the addresses of the Node object. A family without an
   * entry is served on all of its addresses, if there is a Node object.
   */
  readonly addresses: 'all' | 'none' | readonly string[];
  /** The kernel forwards node ports on 127.0.0.1 too; only some modes can. */
  readonly onLocalhost: boolean;
  /** Families whose TCP node ports on loopback are relayed by the process; undefined: none. */
  readonly relayedLocalhost?: readonly ('IPv4' | 'IPv6')[];
}

/** Names, with `*` at the end for anything: packets that come in by them are served; own sockets always are. */
export type ClientSettings = 'everybody' | readonly string[];

/** The addresses served besides node ports, and ClusterIPs in the Service ranges. */
export interface ServedAddressSettings {
  /** Also ClusterIPs outside of the Service ranges; always with a Node object. */
  readonly allClusterIPs: boolean;
  readonly externalIPs: boolean;
  readonly loadBalancerIPs: boolean;
}

/** Services of the namespaces that match the selector, and Services named one by one. */
export interface ScopeSettings {
  /** Empty: all namespaces if there is a selector, else none. */
  readonly namespaces: readonly string[];
  /** As `namespace/name`. */
  readonly services: readonly string[];
  /** As for `kubectl -l`. */
  readonly serviceSelector?: string;
}

/** Undefined: leave what the kernel has. */
export interface ConntrackSettings {
  readonly maxPerCore?: number;
  readonly min: number;
  readonly tcpEstablishedTimeoutMs?: number;
  readonly tcpCloseWaitTimeoutMs?: number;
  readonly tcpBeLiberal: boolean;
  readonly udpTimeoutMs?: number;
  readonly udpStreamTimeoutMs?: number;
}

/** Undefined: as conntrack has it. */
export interface IpvsSettings {
  readonly scheduler: string;
  readonly excludeCidrs: readonly string[];
  readonly tcpTimeoutMs?: number;
  readonly tcpFinTimeoutMs?: number;
  readonly udpTimeoutMs?: number;
}

export const DEFAULT_EBPF: EbpfSettings = { pinFolder: '/sys/fs/bpf/fairlead' };

export interface EbpfSettings {
  /** Undefined: the root cgroup. */
  readonly cgroupPath?: string;
  readonly pinFolder: string;
  /** Names, with `*` for anything; none: all but loopback. */
  readonly interfaces?: readonly string[];
}

export interface UserspaceSettings {
  /** Threads of the forwarder that copy. Undefined: as many as CPUs, at most 8. */
  readonly threads?: number;
}

export interface FeatureSettings {
  /** False: addresses in `spec.externalIPs` of a Service are not served. */
  readonly serviceExternalIps: boolean;
  readonly flagzPage: boolean;
  readonly statuszPage: boolean;
  /** Node ports on loopback may be relayed; `nodePorts` has the families. */
  readonly localhostNodePorts: boolean;
}
