import type { Credentials } from '../control-plane/credentials.ts';
import type { IptablesProgram } from '../host/iptables-program.ts';
import type { Parts } from '../parts/build.ts';

/** The settings of a proxy that change what packets see, in kube-proxy's own words. */
export interface ProxySettings {
  readonly detectLocalMode?: 'ClusterCIDR' | 'NodeCIDR' | 'BridgeInterface' | 'InterfaceNamePrefix';
  readonly masqueradeAll?: boolean;
  readonly nodePortAddresses?: readonly string[];
  readonly localhostNodePorts?: boolean;
  /** Of Fairlead only; strict when not given. */
  readonly addressRules?: 'strict' | 'kube-proxy';
}

export interface ProxyPlace {
  readonly nodeName: string;
  readonly parts: Parts;
  readonly credentials: Credentials;
  /** A folder of this node's own. */
  readonly folder: string;
  readonly settings: ProxySettings;
  /** Of a variant that serves sockets: whose sockets, and where its programs are kept. */
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

/** A proxy that the lab can run on its nodes and the judge can judge. */
export interface ProxyVariant {
  readonly name: string;
  readonly description: string;
  /** The backend of iptables that it uses, and so every program of its node; nft when not given. */
  readonly iptables?: IptablesProgram;
  /** Writes what the proxy reads at its start, and says how to start it. */
  prepare(place: ProxyPlace): Promise<ProxyCommand>;
  /** It may overlook the zone of its node while it starts, and has to be told again. */
  readonly mayMissZoneAtStart?: boolean;
  /** It acts on sockets, not packets: those of each node are made in a control group of its own. */
  readonly servesSockets?: boolean;
  /** Asked again and again through the node's loopback: is every family in the kernel? */
  synced(read: (port: number, path: string) => Promise<string | undefined>): Promise<boolean>;
}
