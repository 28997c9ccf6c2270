/** Services for the pictures: some that clients use, and many that are quiet. */

/** Port of every Service, and addresses that clients use. */
export const LOAD_BALANCER = '203.0.113.10';

/** Name, endpoints by their number, and how many connections of a round it gets. */
const USED: readonly (readonly [name: string, endpoints: readonly number[], weight: number])[] = [
  ['shop/web', [0, 1, 2], 26],
  ['kube-system/kube-dns', [0], 18],
  ['shop/cart', [0, 1], 11],
  ['search/query', [1, 2], 9],
  ['obs/otlp', [0], 7],
  ['pay/ledger', [2, 1], 6],
  ['default/kubernetes', [1, 2], 4],
  ['mail/smtp', [2], 2],
  ['auth/tokens', [0, 1, 2], 1],
];
const NODES = ['node1', 'node2', 'node3'];
const TEAMS = ['batch', 'data', 'edge', 'feed', 'ml', 'press', 'stage', 'video'];
/** Which team a Service is of: some have more than others. */
const SHARES = [0, 0, 0, 1, 1, 2, 3, 3, 4, 5, 5, 6, 7];
const PARTS = ['api', 'auth', 'cache', 'feed', 'front', 'queue', 'store', 'worker'];
const QUIET = 620;

const NODE = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'node1', uid: 'node1', labels: { 'topology.kubernetes.io/zone': 'zone-a' } },
  status: { addresses: [{ type: 'InternalIP', address: '192.0.2.1' }] },
};

export interface Target {
  readonly address: string;
  readonly weight: number;
}

/** What pods connect to, with how often in a round. */
export function targets(): readonly Target[] {
  return USED.map(([, , weight], at) => ({ address: `10.96.0.${at + 10}`, weight }));
}

export const REVIEWS = '10.96.0.30';

export interface TownState {
  /** Whether the only endpoint of shop/reviews is ready. */
  readonly hasReviews: boolean;
  /** Endpoints of pay/ledger that are ready, of two. */
  readonly ledgers?: number;
}

/** `endpoints`: addresses of three pods, which stand for three nodes. */
export function townManifests(
  endpoints: readonly string[],
  { hasReviews, ledgers = 2 }: TownState,
): string {
  const pods = endpoints.map((address, at) => ({
    address,
    node: NODES[at] ?? 'node1',
    ready: true,
  }));
  const [first, second, third] = pods;
  if (!first || !second || !third) throw new TypeError('three endpoints are needed');
  const late = { address: '10.244.9.40', node: 'node4', ready: false };
  const used = USED.flatMap(([name, numbers], at) => [
    service(name, { clusterIP: `10.96.0.${at + 10}` }),
    slice(name, [
      ...numbers.flatMap((each, at) => {
        const pod = pods[each];
        const isDown = name === 'pay/ledger' && at >= ledgers;
        return pod === undefined ? [] : [{ ...pod, ready: !isDown }];
      }),
      ...(name === 'shop/web' ? [late] : []),
    ]),
  ]);
  const quiet = Array.from({ length: QUIET }, (_, at) => {
    const team = `${TEAMS[SHARES[at % SHARES.length] ?? 0]}-${String((at * 7) % 5).padStart(2, '0')}`;
    return service(`${team}/${PARTS[at % PARTS.length]}-${at}`, {
      clusterIP: `10.96.${2 + Math.floor(at / 250)}.${1 + (at % 250)}`,
    });
  });
  const filled = quiet.flatMap((each, at) => {
    const { namespace, name } = each.metadata;
    return at % 97 === 0 ? [each] : [each, slice(`${namespace}/${name}`, [second])];
  });
  const edge = {
    ...service('ingress/edge', {
      clusterIP: '10.96.0.31',
      type: 'LoadBalancer',
      externalTrafficPolicy: 'Local',
    }),
    status: { loadBalancer: { ingress: [{ ip: LOAD_BALANCER }] } },
  };
  const items = [
    NODE,
    ...used,
    ...filled,
    service('shop/reviews', { clusterIP: REVIEWS }),
    slice('shop/reviews', [{ ...first, ready: hasReviews }]),
    edge,
    slice('ingress/edge', [third]),
  ];
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
}

function service(
  path: string,
  { clusterIP, ...spec }: { readonly clusterIP: string; readonly [field: string]: string },
) {
  const [namespace = '', name = ''] = path.split('/');
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace, uid: path },
    spec: {
      clusterIP,
      clusterIPs: [clusterIP],
      ipFamilies: ['IPv4'],
      ports: [{ name: 'http', port: 80, targetPort: 8080, protocol: 'TCP' }],
      ...spec,
    },
  };
}

interface Part {
  readonly address: string;
  readonly node: string;
  readonly ready: boolean;
}

function slice(path: string, parts: readonly Part[]) {
  const [namespace = '', name = ''] = path.split('/');
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: `${name}-x7z5k`, namespace, labels: { 'kubernetes.io/service-name': name } },
    addressType: 'IPv4',
    ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
    endpoints: parts.map(({ address, node, ready }) => ({
      addresses: [address],
      nodeName: node,
      conditions: { ready, serving: ready, terminating: false },
    })),
  };
}
