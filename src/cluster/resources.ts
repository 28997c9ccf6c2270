import type { Kind } from './object-kinds.ts';

/** API path of a kind, and the selector for objects that concern a proxy. */
export interface Resource<K extends Kind = Kind> {
  readonly kind: K;
  readonly path: string;
  /** Alternative path, with the same schema. */
  readonly olderPaths?: readonly string[];
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** The part of a scope that it reads, for messages: `namespace shop`. */
  readonly part?: string;
  /** Optional: not every cluster has it, and a proxy works without it. */
  readonly isOptional?: boolean;
}

/** kube-proxy's selector. */
export const SERVICES: Resource<'service'> = {
  kind: 'service',
  path: '/api/v1/services',
  labelSelector: '!service.kubernetes.io/service-proxy-name',
  fieldSelector: 'spec.clusterIP!=None',
};

export const SLICES: Resource<'slice'> = {
  kind: 'slice',
  path: '/apis/discovery.k8s.io/v1/endpointslices',
  labelSelector: '!service.kubernetes.io/headless',
};

/** Served since Kubernetes 1.33; from 1.31 to 1.36 also as a beta version, if that is enabled. */
export const SERVICE_CIDRS: Resource<'serviceCidr'> = {
  kind: 'serviceCidr',
  path: '/apis/networking.k8s.io/v1/servicecidrs',
  olderPaths: ['/apis/networking.k8s.io/v1beta1/servicecidrs'],
  isOptional: true,
};

/** Only namespaces with the label: the others are not even sent. */
export const NAMESPACES: Resource<'namespace'> = {
  kind: 'namespace',
  path: '/api/v1/namespaces',
  labelSelector: 'fairlead.dev/ebpf',
  isOptional: true,
};

export function nodeNamed(name: string): Resource<'node'> {
  return { kind: 'node', path: '/api/v1/nodes', fieldSelector: `metadata.name=${name}` };
}

/** The rights to grant when the server rejects it; undefined: those of every proxy. */
export function missingRights({ kind, part }: Resource): string | undefined {
  if (part === undefined) return undefined;
  const plural = kind === 'service' ? 'services' : 'endpointslices';
  return `grant this user list and watch of ${plural} for ${part}, or remove it from fairlead.scope`;
}

export type Query = Readonly<Record<string, string>>;

export function urlOf(resource: Resource, query: Query): string {
  const parameters = new URLSearchParams();
  if (resource.labelSelector !== undefined) {
    parameters.set('labelSelector', resource.labelSelector);
  }
  if (resource.fieldSelector !== undefined) {
    parameters.set('fieldSelector', resource.fieldSelector);
  }
  for (const [name, value] of Object.entries(query)) parameters.set(name, value);
  return `${resource.path}?${parameters}`;
}
