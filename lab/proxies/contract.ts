import type { Credentials } from '../control-plane/credentials.ts';
import type { IptablesProgram } from '../host/iptables-program.ts';
import type { KernelPart } from '../host/kernel-parts.ts';
import type { ApiVersion } from '../parts/api-version.ts';
import type { GoBuildContext } from '../parts/go-build.ts';

/** The settings of a proxy that change what packets see, in kube-proxy's own words. */
export interface ProxySettings {
  readonly detectLocalMode?: 'ClusterCIDR' | 'NodeCIDR' | 'BridgeInterface' | 'InterfaceNamePrefix';
  readonly masqueradeAll?: boolean;
  readonly nodePortAddresses?: readonly string[];
  readonly localhostNodePorts?: boolean;
  /** `ipvs.scheduler` of the file. */
  readonly ipvsScheduler?: string;
  readonly featureGates?: Readonly<Record<string, boolean>>;
  /** Of Fairlead only; strict when not given. */
  readonly addressRules?: 'strict' | 'kube-proxy';
}

export interface ProxyPlace {
  readonly nodeName: string;
  readonly credentials: Credentials;
  /** A folder of this node's own. */
  readonly folder: string;
  readonly settings: ProxySettings;
  /** For a variant with socket hooks: the cgroup of the sockets, and the folder of its programs. */
  readonly sockets?: SocketPlace | undefined;
}

export interface SocketPlace {
  readonly cgroupPath: string;
  readonly pinFolder: string;
}

export interface ProxyCommand {
  readonly argv: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
}

/** Time that an answer is granted, and for what. */
export interface Allowance {
  readonly withinMs: number;
  readonly reason: string;
}

/** A proxy that the lab can run on its nodes and the conformance suite can test. */
export interface ProxyVariant {
  readonly name: string;
  readonly description: string;
  /** The backend of iptables that it uses, and so every program of its node; nft when not given. */
  readonly iptables?: IptablesProgram;
  /** Parts of the kernel without which it cannot run; none when not given. */
  readonly kernelParts?: readonly KernelPart[];
  /** Builds the programs of the proxy that the cache does not have; not given: none are built. */
  build?(context: GoBuildContext): Promise<unknown>;
  /** Writes what the proxy reads at its start, and says how to start it. */
  prepare(place: ProxyPlace): Promise<ProxyCommand>;
  /**
   * How late it may be with what the barrier says it has. Not given: its first answer must be right,
   * and its rounds of the barrier are held to those of a bare watcher.
   */
  readonly lateness?: Allowance;
  /** Version of a kube-proxy older than the reference. */
  readonly version?: ApiVersion;
  /** It may miss the zone of its node at its start, and needs the event again. */
  readonly mayMissZoneAtStart?: boolean;
  /** It acts on sockets, not packets: those of each node are made in a control group of its own. */
  readonly servesSockets?: boolean;
  /** Asked again and again through the node's loopback: is every family in the kernel? */
  synced(read: (port: number, path: string) => Promise<string | undefined>): Promise<boolean>;
}
