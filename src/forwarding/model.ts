import type { Scheduler } from './scheduler.ts';

/**
 * The desired state: what a node does with connections to Services. Policies, readiness and
 * topology are already applied; a data plane only translates rows.
 */

export type Family = 'IPv4' | 'IPv6';
export type Protocol = 'TCP' | 'UDP' | 'SCTP';

export const FAMILIES: readonly Family[] = ['IPv4', 'IPv6'];

/** One port of one Service in one family: the unit of change. */
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

/** Source class: a pod of this node (by the local detector), the node itself, or others. */
export type SourceClass = 'pod' | 'host' | 'outside';

export const SOURCE_CLASSES: readonly SourceClass[] = ['pod', 'host', 'outside'];

/** Outcome for a new connection. */
export type Outcome =
  | { readonly action: 'forward'; readonly list: EndpointList; readonly masquerade: boolean }
  | { readonly action: 'reject'; readonly reason?: RejectReason }
  | { readonly action: 'drop' };

/**
 * Why a connection is rejected although the Service has endpoints. Undefined: it has none.
 * `not-a-node`: its policy is Local, and this machine has no Node object.
 */
export type RejectReason = 'not-a-node';

/** The endpoints selected for this node, of the whole cluster or on this node. */
export type EndpointList = 'cluster' | 'local';

export type FrontendKind = 'cluster-ip' | 'external-ip' | 'load-balancer-ip' | 'node-port';

/** An address of a service port. */
export interface Frontend {
  readonly kind: FrontendKind;
  /** Empty for a node port, which applies to all node port addresses. */
  readonly address: string;
  readonly port: number;
  readonly outcomes: Readonly<Record<SourceClass, Outcome>>;
  /** Allowed source ranges; undefined: all; empty: none. Other sources are dropped. */
  readonly allowedSources?: readonly string[];
  /** Set if it is not programmed. */
  readonly notServed?: NotServed;
}

/** Why an address and port of a Service is not served. */
export type NotServed =
  /** Another Service, or an earlier port of the same one, has it. */
  | { readonly reason: 'other-service'; readonly service: string }
  /** An external IP inside a Service CIDR. */
  | { readonly reason: 'service-range'; readonly range: string }
  /** A cluster IP outside of the ranges; empty: none is configured. */
  | { readonly reason: 'outside-ranges'; readonly ranges: readonly string[] }
  /** An external IP and port of the API server. */
  | { readonly reason: 'api-server' }
  /** An external IP of this machine, and a port that a process listens on. */
  | { readonly reason: 'host-socket' };

export interface Endpoint {
  readonly address: string;
  readonly port: number;
  /** On this node: a connection from itself to itself must be masqueraded. */
  readonly local: boolean;
}

/** One row: everything that a data plane needs for one service port. */
export interface Forwarding {
  readonly id: ServicePortId;
  readonly frontends: readonly Frontend[];
  /** Sorted by `address:port`, so that output is deterministic. */
  readonly clusterEndpoints: readonly Endpoint[];
  readonly localEndpoints: readonly Endpoint[];
  /** 0: none. */
  readonly affinitySeconds: number;
  /** Opted out of eBPF: only nftables handles it. */
  readonly onlyPackets?: true;
  /** From the annotation of the Service; undefined: that of the configuration. */
  readonly scheduler?: Scheduler;
  /** The annotation cannot be used: the reason, for people. */
  readonly schedulerFault?: string;
  /** Health check node port, which a firewall must allow. */
  readonly healthCheckPort?: number;
}

/**
 * Which Service gets an address that several claim. `strict`: cluster IPs before load balancer IPs
 * before external IPs, and an external IP takes nothing from the cluster or the machine.
 * `kube-proxy`: the older Service, whatever the kind.
 */
export type AddressRules = 'strict' | 'kube-proxy';

/** Properties of the node that rows depend on. */
export interface NodeView {
  readonly nodeName: string;
  /**
   * False: a machine without a Node object. No endpoint is local there, whatever its host name,
   * and hints for nodes do not apply. Undefined: a node.
   */
  readonly isNode?: false;
  /** Empty: the node has no zone. */
  readonly zone: string;
  /**
   * The node's own addresses; a source range that contains one also allows the load balancer's
   * address.
   */
  readonly nodeIPs: readonly string[];
  /** Whether local pods can be detected, by family. */
  readonly detectsPods: Readonly<Record<Family, boolean>>;
  readonly masqueradeAll: boolean;
  /** Gate AllowServiceExternalIPs. */
  readonly allowExternalIPs: boolean;
  readonly addressRules: AddressRules;
  /** Canonical. */
  readonly serviceRanges: readonly string[];
  /** Cluster IPs outside of the Service ranges are not served. Undefined: all are. */
  readonly onlyServiceRanges?: true;
  /** Kinds of addresses that are not served here; undefined: none. */
  readonly unserved?: readonly FrontendKind[];
  /**
   * Cluster IPs, canonical, whose Services are left to packets; undefined: none. A resolver that binds
   * its queries to an interface needs them: the interface would not lead to an endpoint.
   */
  readonly leftToPackets?: readonly string[];
}
