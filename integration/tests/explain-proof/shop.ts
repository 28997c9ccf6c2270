/** Objects of a small shop, in both families. */

/** The node's own addresses, and those of its pods, as `placed-host.ts` gives them. */
export const NODE = { ipv4: '192.0.2.1', ipv6: 'fd77::1' } as const;
export const NODE_PORT = 30_080;
export const BALANCER = '198.51.100.7';
export const CLUSTER_CIDRS = '10.244.0.0/16,fd44::/16';

const FAMILIES = ['ipv4', 'ipv6'] as const;
export type ShopFamily = (typeof FAMILIES)[number];

/** Of each Service the last number of its cluster IPs. */
const NUMBERS = {
  web: 10,
  none: 11,
  limited: 12,
  self: 13,
  sticky: 14,
  edge: 15,
  deaf: 16,
  nobody: 17,
  nowhere: 18,
  here: 19,
  mixed: 20,
  mute: 21,
  dns: 53,
} as const;
export type ShopService = keyof typeof NUMBERS;

export function clusterIp(service: ShopService, family: ShopFamily): string {
  const number = NUMBERS[service];
  return family === 'ipv4' ? `10.96.0.${number}` : `fd96::${number}`;
}

interface Addresses {
  readonly ipv4: string;
  readonly ipv6: string;
}

/** Of the network of `near`; no machine has it. */
export const NOBODY: Addresses = { ipv4: '10.244.2.99', ipv6: 'fd44:2::99' };
/** The test makes it unreachable. */
export const NOWHERE: Addresses = { ipv4: '10.244.9.9', ipv6: 'fd44:9::9' };

/** `client` is a pod of this node too; `far` is said to be of another node. */
export function shopObjects(of: {
  readonly client: Addresses;
  readonly near: Addresses;
  readonly far: Addresses;
}): object {
  const balancer = { type: 'LoadBalancer', externalTrafficPolicy: 'Cluster' };
  const status = { loadBalancer: { ingress: [{ ip: BALANCER }] } };
  const both = [
    { at: of.near, node: 'node1' },
    { at: of.far, node: 'node2' },
  ];
  const onlyFar = [{ at: of.far, node: 'node2' }];
  return {
    apiVersion: 'v1',
    kind: 'List',
    items: [
      node(),
      service('web', { type: 'NodePort' }, { nodePort: NODE_PORT }),
      ...slices('web', both),
      service('none'),
      {
        ...service('limited', { ...balancer, loadBalancerSourceRanges: ['172.16.0.0/12'] }),
        status,
      },
      ...slices('limited', both),
      service('self'),
      ...slices('self', [{ at: of.client, node: 'node1' }]),
      service('sticky', { sessionAffinity: 'ClientIP' }),
      ...slices('sticky', both),
      service('edge', { internalTrafficPolicy: 'Local' }),
      ...slices('edge', onlyFar),
      service('deaf'),
      ...slices('deaf', both, { port: 9999 }),
      service('nobody'),
      ...slices('nobody', [{ at: NOBODY, node: 'node1' }]),
      service('mixed'),
      ...slices('mixed', [
        { at: of.near, node: 'node1' },
        { at: NOBODY, node: 'node1' },
      ]),
      service('mute', {}, { protocol: 'UDP' }),
      ...slices('mute', [{ at: NOBODY, node: 'node1' }], { protocol: 'UDP' }),
      service('here'),
      ...slices('here', [{ at: NODE, node: 'node1' }]),
      service('nowhere'),
      ...slices('nowhere', [{ at: NOWHERE, node: 'node2' }]),
      service('dns', {}, { protocol: 'UDP' }),
      ...slices('dns', both, { protocol: 'UDP' }),
    ],
  };
}

function node(): object {
  const addresses = FAMILIES.map((family) => ({ type: 'InternalIP', address: NODE[family] }));
  return { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node1' }, status: { addresses } };
}

function service(name: ShopService, spec: object = {}, port: object = {}): object {
  const clusterIPs = FAMILIES.map((family) => clusterIp(name, family));
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'shop', uid: name },
    spec: {
      clusterIP: clusterIPs[0],
      clusterIPs,
      ipFamilies: ['IPv4', 'IPv6'],
      ports: [{ port: 80, targetPort: 8080, protocol: 'TCP', ...port }],
      ...spec,
    },
  };
}

function slices(
  name: ShopService,
  endpoints: readonly { readonly at: Addresses; readonly node: string }[],
  port: object = {},
): object[] {
  return FAMILIES.map((family) => ({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name: `${name}-${family}`,
      namespace: 'shop',
      labels: { 'kubernetes.io/service-name': name },
    },
    addressType: family === 'ipv4' ? 'IPv4' : 'IPv6',
    ports: [{ name: '', port: 8080, protocol: 'TCP', ...port }],
    endpoints: endpoints.map(({ at, node: nodeName }) => ({
      addresses: [at[family]],
      nodeName,
      conditions: { ready: true },
    })),
  }));
}
