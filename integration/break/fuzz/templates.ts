import type { Kind } from '../../../src/cluster/object-kinds.ts';

/**
 * Objects as the API server of 1.37 returns them, with fields that are not read. Few Services,
 * some of which share addresses, so that damaged ones still meet. As text: each use begins anew.
 */
export const TEMPLATES: Readonly<Record<Kind, readonly string[]>> = {
  service: [
    service({
      name: 'web',
      created: '2026-01-02T03:04:05Z',
      spec: {
        type: 'LoadBalancer',
        clusterIP: '10.96.0.10',
        clusterIPs: ['10.96.0.10', 'fd00:96::10'],
        externalIPs: ['198.18.0.9'],
        ports: [
          { name: 'http', protocol: 'TCP', port: 80, targetPort: 8080, nodePort: 30080 },
          { name: 'dns', protocol: 'UDP', port: 53, targetPort: 'dns', nodePort: 30053 },
        ],
        loadBalancerSourceRanges: ['10.0.0.0/8', '172.30.0.0/16', 'fd00:30::/64'],
        externalTrafficPolicy: 'Local',
        healthCheckNodePort: 31000,
        sessionAffinity: 'ClientIP',
        sessionAffinityConfig: { clientIP: { timeoutSeconds: 10800 } },
      },
      ingress: [
        { ip: '198.18.0.2', ipMode: 'VIP' },
        { ip: 'fd00:18::2' },
        { hostname: 'lb.example' },
      ],
    }),
    service({
      name: 'api',
      created: '2026-02-02T03:04:05Z',
      spec: {
        type: 'NodePort',
        clusterIP: 'fd00:96::11',
        clusterIPs: ['fd00:96::11', '10.96.0.11'],
        externalIPs: ['198.18.0.9', 'fd00:18::9'],
        ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080, nodePort: 30080 }],
        externalTrafficPolicy: 'Cluster',
        sessionAffinity: 'None',
      },
    }),
    service({
      name: 'db',
      created: '2026-03-02T03:04:05Z',
      spec: {
        type: 'ClusterIP',
        clusterIP: '10.96.0.12',
        clusterIPs: ['10.96.0.12'],
        ports: [{ protocol: 'TCP', port: 5432, targetPort: 5432 }],
        sessionAffinity: 'None',
      },
    }),
  ],
  slice: [
    slice({ name: 'web-4xk2p', owner: 'web', addressType: 'IPv4', addresses: v4(1, 2, 3) }),
    slice({ name: 'web-9qvmm', owner: 'web', addressType: 'IPv4', addresses: v4(3, 4) }),
    slice({ name: 'web-b7s6d', owner: 'web', addressType: 'IPv6', addresses: ['fd00:244::1'] }),
    slice({ name: 'api-kk2lx', owner: 'api', addressType: 'IPv6', addresses: ['fd00:244::2'] }),
    slice({ name: 'db-x1x1x', owner: 'db', addressType: 'IPv4', addresses: v4(5) }),
  ],
  node: [
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: {
        ...metadata({ name: 'node1', created: '2026-01-01T00:00:00Z' }),
        labels: { 'kubernetes.io/hostname': 'node1', 'topology.kubernetes.io/zone': 'zone-a' },
      },
      spec: {
        podCIDR: '10.244.0.0/24',
        podCIDRs: ['10.244.0.0/24', 'fd00:244::/64'],
        taints: [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }],
      },
      status: {
        addresses: [
          { type: 'InternalIP', address: '172.30.1.1' },
          { type: 'InternalIP', address: 'fd00:30::1' },
          { type: 'Hostname', address: 'node1' },
        ],
        conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady' }],
        nodeInfo: { kubeletVersion: 'v1.37.1', operatingSystem: 'linux' },
      },
    }),
  ],
  serviceCidr: [
    JSON.stringify({
      apiVersion: 'networking.k8s.io/v1',
      kind: 'ServiceCIDR',
      metadata: metadata({ name: 'kubernetes', created: '2026-01-01T00:00:00Z' }),
      spec: { cidrs: ['10.96.0.0/12', 'fd00:96::/108'] },
      status: { conditions: [{ type: 'Ready', status: 'True', reason: '' }] },
    }),
  ],
  namespace: ['on', 'off'].map((choice) =>
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: {
        ...metadata({ name: 'default', created: '2026-01-01T00:00:00Z' }),
        labels: { 'fairlead.dev/ebpf': choice },
      },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    }),
  ),
};

function metadata(of: { name: string; namespace?: string; created: string }): object {
  return {
    name: of.name,
    ...(of.namespace === undefined ? {} : { namespace: of.namespace }),
    uid: `0b5d1c5e-${of.name}`,
    resourceVersion: '4711',
    generation: 1,
    creationTimestamp: of.created,
    managedFields: [{ manager: 'kubectl', operation: 'Update', fieldsV1: { 'f:spec': {} } }],
  };
}

function service(of: { name: string; created: string; spec: object; ingress?: object[] }): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      ...metadata({ ...of, namespace: 'shop' }),
      labels: { app: of.name },
      annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{}\n' },
    },
    spec: {
      ...of.spec,
      internalTrafficPolicy: 'Cluster',
      ipFamilies: ['IPv4', 'IPv6'],
      ipFamilyPolicy: 'PreferDualStack',
      selector: { app: of.name },
    },
    status: { loadBalancer: of.ingress === undefined ? {} : { ingress: of.ingress } },
  });
}

function slice(of: {
  name: string;
  owner: string;
  addressType: 'IPv4' | 'IPv6';
  addresses: readonly string[];
}): string {
  const endpoints = of.addresses.map((address, index) => ({
    addresses: [address],
    conditions: { ready: index !== 1, serving: true, terminating: index === 1 },
    nodeName: index === 0 ? 'node1' : 'node2',
    zone: 'zone-a',
    hints: { forZones: [{ name: 'zone-a' }], forNodes: [{ name: 'node1' }, { name: 'node2' }] },
    targetRef: { kind: 'Pod', namespace: 'shop', name: `${of.owner}-${index}`, uid: 'c2' },
  }));
  return JSON.stringify({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      ...metadata({ name: of.name, namespace: 'shop', created: '2026-01-02T03:04:06Z' }),
      labels: {
        'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
        'kubernetes.io/service-name': of.owner,
      },
      annotations: { 'endpoints.kubernetes.io/last-change-trigger-time': '2026-01-02T03:04:06Z' },
    },
    addressType: of.addressType,
    ports: [
      { name: of.owner === 'db' ? '' : 'http', port: 8080, protocol: 'TCP' },
      { name: 'dns', port: 5353, protocol: 'UDP' },
    ],
    endpoints,
  });
}

function v4(...hosts: readonly number[]): string[] {
  return hosts.map((host) => `10.244.0.${host}`);
}
