import type { ServiceObject, SliceEndpoint, SliceObject } from '../../cluster/objects.ts';
import type { NodeView } from '../model.ts';
import { unknownNode } from './unknown-node.ts';

/** Minimal objects for tests; each test overrides the fields it is about. */

export function service(more: Partial<ServiceObject> = {}): ServiceObject {
  return {
    namespace: 'ns',
    name: 'web',
    createdAtSeconds: 100,
    labels: {},
    type: 'ClusterIP',
    clusterIPs: ['10.96.0.1', 'fd00:96::1'],
    externalIPs: [],
    loadBalancerIPs: [],
    loadBalancerSourceRanges: [],
    ports: [{ name: '', protocol: 'TCP', port: 80, nodePort: 0 }],
    externalTrafficPolicy: 'Cluster',
    internalTrafficPolicy: 'Cluster',
    affinitySeconds: 0,
    healthCheckNodePort: 0,
    ...more,
  };
}

export function slice(
  endpoints: readonly SliceEndpoint[],
  more: Partial<SliceObject> = {},
): SliceObject {
  return {
    namespace: 'ns',
    name: 'web-1',
    service: 'web',
    headless: false,
    addressType: 'IPv4',
    ports: [{ name: '', protocol: 'TCP', port: 8080 }],
    endpoints,
    ...more,
  };
}

export function endpoint(address: string, more: Partial<SliceEndpoint> = {}): SliceEndpoint {
  return { address, nodeName: 'here', ready: true, serving: true, terminating: false, ...more };
}

export function elsewhere(address: string, more: Partial<SliceEndpoint> = {}): SliceEndpoint {
  return endpoint(address, { nodeName: 'there', ...more });
}

export const TERMINATING = { ready: false, serving: true, terminating: true };

export function view(more: Partial<NodeView> = {}): NodeView {
  const nodeIPs = ['172.30.1.1', 'fd00:30::1'];
  return { ...unknownNode('here'), zone: 'zone-a', nodeIPs, ...more };
}
