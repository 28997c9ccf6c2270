import type { Candidate } from '../../../forwarding/candidates.ts';
import type { EmptyRow } from '../empty-row.ts';
import type {
  ContainerThere,
  PodThere,
  ServiceThere,
  SliceThere,
  Surroundings,
} from '../surroundings.ts';

/** The row of shop/web:http in IPv4, without an endpoint. */
export const ROW: EmptyRow = {
  id: { namespace: 'shop', service: 'web', port: 'http', protocol: 'TCP', family: 'IPv4' },
  candidates: [],
};

export function service(parts: Partial<ServiceThere> = {}): ServiceThere {
  return {
    namespace: 'shop',
    name: 'web',
    type: 'ClusterIP',
    selector: { app: 'web' },
    ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 'http' }],
    clusterIPs: ['10.96.0.10'],
    externalName: '',
    loadBalancerClass: '',
    ingress: [],
    ...parts,
  };
}

export function slice(parts: Partial<SliceThere> = {}): SliceThere {
  return {
    name: 'web-x1',
    service: 'web',
    family: 'IPv4',
    ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
    addresses: ['10.1.0.2'],
    ...parts,
  };
}

export function container(parts: Partial<ContainerThere> = {}): ContainerThere {
  return {
    name: 'web',
    isInit: false,
    ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
    readinessProbe: '',
    startupProbe: '',
    isReady: true,
    isStarted: true,
    state: { is: 'running', reason: '', message: '', exitCode: 0 },
    ...parts,
  };
}

/** Ready, on node1. */
export function pod(parts: Partial<PodThere> = {}): PodThere {
  return {
    name: 'web-1',
    labels: { app: 'web' },
    addresses: ['10.1.0.2'],
    nodeName: 'node1',
    isTerminating: false,
    phase: 'Running',
    reason: '',
    conditions: [{ type: 'Ready', status: 'True', reason: '', message: '' }],
    containers: [container()],
    ...parts,
  };
}

/** All read: of a cluster with this Service, and nothing else. */
export function surroundings(
  parts: {
    readonly from?: Surroundings['from'];
    readonly service?: ServiceThere;
    readonly slices?: readonly SliceThere[];
    readonly pods?: readonly PodThere[];
    readonly more?: Partial<Surroundings>;
  } = {},
): Surroundings {
  return {
    from: parts.from ?? 'cluster',
    service: { known: parts.service ?? service() },
    slices: { known: parts.slices ?? [] },
    pods: { known: parts.pods ?? [] },
    workloads: { known: [] },
    legacyEndpoints: { known: undefined },
    ...parts.more,
  };
}

/** Of an endpoint that the slices have. */
export function candidate(parts: Partial<Candidate> = {}): Candidate {
  return {
    address: '10.1.0.2',
    port: 8080,
    nodeName: 'node1',
    local: true,
    state: 'not ready',
    verdicts: { cluster: 'not ready', local: 'list not used' },
    ...parts,
  };
}
