/**
 * What a node should do with connections to Services. Policies, readiness and topology have been
 * settled when a row of this model exists; a data plane translates it and asks no more questions.
 */

export type Family = 'IPv4' | 'IPv6';
export type Protocol = 'TCP' | 'UDP' | 'SCTP';

export const FAMILIES: readonly Family[] = ['IPv4', 'IPv6'];

/** One port of one Service in one family: the unit in which everything changes. */
export interface ServicePortId {
  readonly namespace: string;
  readonly service: string;
  /** Name of the port; empty for the only one. */
  readonly port: string;
  readonly protocol: Protocol;
  readonly family: Family;
}

export type ServicePortKey = string;

/** `namespace/name:port/TCP/IPv4`, `:port` left out for an unnamed one. */
export function servicePortKey(id: ServicePortId): ServicePortKey {
  return [servicePortName(id), id.protocol, id.family].join('/');
}

/** `namespace/name:port`, as kube-proxy writes it in comments. */
export function servicePortName(id: Omit<ServicePortId, 'protocol' | 'family'>): string {
  const name = `${id.namespace}/${id.service}`;
  return id.port === '' ? name : `${name}:${id.port}`;
}

/** Who asks: a pod of this node as far as the local detector can tell, the node itself, all others. */
export type SourceClass = 'pod' | 'host' | 'outside';

export const SOURCE_CLASSES: readonly SourceClass[] = ['pod', 'host', 'outside'];

/** What happens to a new connection. */
export type Outcome =
  | { readonly action: 'forward'; readonly list: EndpointList; readonly masquerade: boolean }
  | { readonly action: 'reject' }
  | { readonly action: 'drop' };

/** The endpoints of the whole cluster that were selected for this node, or those on this node. */
export type EndpointList = 'cluster' | 'local';

export type FrontendKind = 'cluster-ip' | 'external-ip' | 'load-balancer-ip' | 'node-port';

/** An address that a service port is reached at. */
export interface Frontend {
  readonly kind: FrontendKind;
  /** Empty for a node port, which is every address that the node serves node ports on. */
  readonly address: string;
  readonly port: number;
  readonly outcomes: Readonly<Record<SourceClass, Outcome>>;
  /** Ranges that may ask; undefined: everybody; empty: nobody. Others are dropped. */
  readonly allowedSources?: readonly string[];
  /** Set when nothing is programmed for it. */
  readonly notServed?: NotServed;
}

/** Why an address and port that a Service claims is not served for it. */
export type NotServed =
  /** Another Service has it, or an earlier port of the same one. */
  | { readonly reason: 'other-service'; readonly service: string }
  /** An external IP inside a range from which the API server assigns cluster IPs. */
  | { readonly reason: 'service-range'; readonly range: string }
  /** An external IP and port at which the API server listens. */
  | { readonly reason: 'api-server' }
  /** An external IP of this machine, and a port that one of its processes holds. */
  | { readonly reason: 'host-socket' };

export interface Endpoint {
  readonly address: string;
  readonly port: number;
  /** On this node: a connection from itself to itself must be masqueraded. */
  readonly local: boolean;
}

/** Everything that a data plane needs to know of one service port. */
export interface Forwarding {
  readonly id: ServicePortId;
  readonly frontends: readonly Frontend[];
  /** Both sorted by `address:port`, so that the same cluster gives the same bytes. */
  readonly clusterEndpoints: readonly Endpoint[];
  readonly localEndpoints: readonly Endpoint[];
  /** 0: none. */
  readonly affinitySeconds: number;
  /** Connections must be met as packets only: programs at sockets and interfaces leave them alone. */
  readonly onlyPackets?: true;
  /** Where load balancers ask whether this node serves: a firewall must let them. */
  readonly healthCheckPort?: number;
}

/**
 * Who has an address that several want. `strict`: a cluster IP comes before a load balancer's
 * address before an external IP, and an external IP takes nothing from the cluster or the machine.
 * `kube-proxy`: the older Service has it, whatever kind of address it is.
 */
export type AddressRules = 'strict' | 'kube-proxy';

/** What the model must know of the node it is made for. */
export interface NodeView {
  readonly nodeName: string;
  /** Empty: the node has no zone. */
  readonly zone: string;
  /** The node's own addresses; a source range that holds one lets the load balancer's own in. */
  readonly nodeIPs: readonly string[];
  /** Whether pods of this node can be told from others, by family. */
  readonly detectsPods: Readonly<Record<Family, boolean>>;
  readonly masqueradeAll: boolean;
  /** Gate AllowServiceExternalIPs. */
  readonly allowExternalIPs: boolean;
  readonly addressRules: AddressRules;
  /** Canonical. */
  readonly serviceRanges: readonly string[];
  /** Kinds of addresses that are left alone here, whatever Services have them; undefined: none. */
  readonly unserved?: readonly FrontendKind[];
}
