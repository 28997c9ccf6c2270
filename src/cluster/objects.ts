/**
 * The fields of API objects that a proxy reads, and nothing else, so that fifty thousand objects
 * fit into memory. narrow/ fills in the defaults of the API.
 */

export interface ServiceObject {
  readonly namespace: string;
  readonly name: string;
  /** Seconds since 1970; if two Services claim an address, the older owns it. */
  readonly createdAtSeconds: number;
  readonly labels: ServiceLabels;
  readonly type: string;
  /** In the order of the object; `None` and empty ones left out. */
  readonly clusterIPs: readonly string[];
  readonly externalIPs: readonly string[];
  readonly loadBalancerIPs: readonly LoadBalancerIp[];
  readonly loadBalancerSourceRanges: readonly string[];
  readonly ports: readonly ServicePortObject[];
  readonly externalTrafficPolicy: 'Cluster' | 'Local';
  readonly internalTrafficPolicy: 'Cluster' | 'Local';
  /** 0: no affinity. */
  readonly affinitySeconds: number;
  /** 0: none. */
  readonly healthCheckNodePort: number;
  /** Value of the annotation `fairlead.dev/ipvs-scheduler`, as written; undefined: none. */
  readonly ipvsScheduler?: string;
  /** Tells whether the selector changed; undefined: it has none. Its pods are not ours to find. */
  readonly selectorHash?: number;
}

export interface ServiceLabels {
  /** Value of `service.kubernetes.io/service-proxy-name`: another proxy's Service. */
  readonly proxyName?: string;
  /** Value of `fairlead.dev/ebpf`: whether programs in the kernel may serve it. */
  readonly ebpf?: EbpfChoice;
}

export type EbpfChoice = 'on' | 'off';

export interface LoadBalancerIp {
  readonly ip: string;
  readonly ipMode: 'VIP' | 'Proxy';
}

export interface ServicePortObject {
  /** Empty for the only port of a Service. */
  readonly name: string;
  readonly protocol: string;
  readonly port: number;
  /** 0: none. */
  readonly nodePort: number;
}

export interface SliceObject {
  readonly namespace: string;
  readonly name: string;
  /** Value of `kubernetes.io/service-name`; empty: belongs to no Service. */
  readonly service: string;
  /** Labelled `service.kubernetes.io/headless`: not for proxies. */
  readonly headless: boolean;
  readonly addressType: 'IPv4' | 'IPv6' | 'FQDN';
  readonly ports: readonly SlicePort[];
  readonly endpoints: readonly SliceEndpoint[];
  /**
   * When the endpoints of the slice changed last, in milliseconds since 1970, if the controllers
   * set it.
   */
  readonly triggeredAtMs?: number;
}

export interface SlicePort {
  readonly name: string;
  readonly protocol: string;
  /** Undefined: every port, as the API allows. */
  readonly port?: number;
}

export interface SliceEndpoint {
  /** Only the first address of an endpoint is used, as in kube-proxy. */
  readonly address: string;
  readonly nodeName?: string;
  readonly ready: boolean;
  readonly serving: boolean;
  readonly terminating: boolean;
  readonly zoneHints?: readonly string[];
  readonly nodeHints?: readonly string[];
  /** The pod that has the address, if the source was asked to keep it. */
  readonly podName?: string;
}

export interface NodeObject {
  readonly name: string;
  /** Empty: no label `topology.kubernetes.io/zone`. */
  readonly zone: string;
  /** IP addresses, internal before external ones. */
  readonly addresses: readonly string[];
  readonly podCIDRs: readonly string[];
  readonly deleting: boolean;
  readonly taintKeys: readonly string[];
}

export interface ServiceCidrObject {
  readonly name: string;
  readonly cidrs: readonly string[];
}

export interface NamespaceObject {
  readonly name: string;
  /** Value of `fairlead.dev/ebpf`, for its Services without their own. */
  readonly ebpf?: EbpfChoice;
}
