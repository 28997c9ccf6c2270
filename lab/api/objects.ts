/** The few fields of Kubernetes objects that the lab reads or writes. */

export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
}

export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly resourceVersion?: string;
  readonly deletionTimestamp?: string;
}

export interface EndpointSlice extends KubeObject {
  readonly addressType: 'IPv4' | 'IPv6' | 'FQDN';
  readonly endpoints?: readonly Endpoint[] | null;
  readonly ports?: readonly { name?: string; port?: number; protocol?: string }[] | null;
}

export interface Endpoint {
  readonly addresses: readonly string[];
  readonly conditions?: { ready?: boolean; serving?: boolean; terminating?: boolean };
  readonly nodeName?: string;
  readonly zone?: string;
  readonly hints?: { forZones?: { name: string }[]; forNodes?: { name: string }[] };
  readonly targetRef?: { kind: string; name: string; namespace: string };
}

export interface Service extends KubeObject {
  readonly spec: {
    readonly type?: string;
    readonly selector?: Readonly<Record<string, string>>;
    readonly clusterIP?: string;
    readonly clusterIPs?: readonly string[];
    readonly externalIPs?: readonly string[];
    readonly healthCheckNodePort?: number;
    readonly trafficDistribution?: string;
    readonly ports?: readonly ServicePort[];
  };
  readonly status?: {
    readonly loadBalancer?: { readonly ingress?: readonly { ip?: string; ipMode?: string }[] };
  };
}

export interface ServicePort {
  readonly name?: string;
  readonly protocol?: 'TCP' | 'UDP' | 'SCTP';
  readonly port: number;
  readonly targetPort?: number | string;
  readonly nodePort?: number;
}

export const paths = {
  namespaces: '/api/v1/namespaces',
  namespace: (name: string) => `/api/v1/namespaces/${name}`,
  nodes: '/api/v1/nodes',
  node: (name: string) => `/api/v1/nodes/${name}`,
  services: (namespace: string) => `/api/v1/namespaces/${namespace}/services`,
  service: (namespace: string, name: string) => `/api/v1/namespaces/${namespace}/services/${name}`,
  allPods: '/api/v1/pods',
  pods: (namespace: string) => `/api/v1/namespaces/${namespace}/pods`,
  pod: (namespace: string, name: string) => `/api/v1/namespaces/${namespace}/pods/${name}`,
  allSlices: '/apis/discovery.k8s.io/v1/endpointslices',
  slices: (namespace: string) => `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`,
  slice: (namespace: string, name: string) =>
    `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices/${name}`,
} as const;
