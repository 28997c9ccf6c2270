/** Objects of the six cases of docs/explain.md. */
import { NODE } from '../explain-proof/shop.ts';

const EDGE = '198.18.0.7';
const ADMIN = '198.18.0.2';
/** On the node, this address is expected behind another interface than it comes in by. */
export const WRONG_WAY = '203.0.113.9';
export const WEB = '10.96.0.10';

interface At {
  readonly ipv4: string;
}

interface Endpoint {
  readonly address: string;
  readonly node: string;
  readonly pod?: string;
  readonly isReady?: boolean;
}

/** `client` and `near` are pods of this node; `far` is one of node3. */
export function caseObjects(of: {
  readonly client: At;
  readonly near: At;
  readonly far: At;
}): object {
  const reviews = { address: '10.244.4.12', node: 'node4', isReady: false } as const;
  const late = { address: '10.244.8.40', node: 'node8', isReady: false } as const;
  const both: readonly Endpoint[] = [
    { address: of.near.ipv4, node: 'node1', pod: 'web-x2x4' },
    { address: of.far.ipv4, node: 'node3', pod: 'web-m7tn' },
  ];
  return {
    apiVersion: 'v1',
    kind: 'List',
    items: [
      node(),
      service('shop/web', { clusterIP: WEB }),
      slice('shop/web', [...both, { ...late, pod: 'web-q1wd' }]),
      service('shop/reviews', { clusterIP: '10.96.0.11', selector: { app: 'reviews' } }),
      slice('shop/reviews', [reviews]),
      balancer('shop/admin', ADMIN, {
        clusterIP: '10.96.0.13',
        loadBalancerSourceRanges: ['172.16.0.0/16'],
      }),
      slice('shop/admin', both),
      balancer('ingress/edge', EDGE, {
        clusterIP: '10.96.0.12',
        externalTrafficPolicy: 'Local',
        healthCheckNodePort: 31_822,
      }),
      slice('ingress/edge', [
        { address: '10.244.3.4', node: 'node3' },
        { address: '10.244.5.6', node: 'node5' },
      ]),
      pod('cart-6f4d', { address: of.client.ipv4, node: 'node1' }),
      pod('web-q1wd', late),
      pod('reviews-5c7d', reviews),
    ],
  };
}

function node(): object {
  const addresses = [{ type: 'InternalIP', address: NODE.ipv4 }];
  return { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node1' }, status: { addresses } };
}

function metadata(path: string): { readonly namespace: string; readonly name: string } {
  const [namespace = '', name = ''] = path.split('/');
  return { namespace, name };
}

function service(
  path: string,
  spec: { readonly clusterIP: string; readonly [field: string]: unknown },
) {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { ...metadata(path), uid: path },
    spec: {
      clusterIPs: [spec.clusterIP],
      ipFamilies: ['IPv4'],
      ports: [{ name: 'http', port: 80, targetPort: 8080, protocol: 'TCP' }],
      ...spec,
    },
  };
}

function balancer(path: string, ip: string, spec: Parameters<typeof service>[1]): object {
  const status = { loadBalancer: { ingress: [{ ip }] } };
  return { ...service(path, { type: 'LoadBalancer', ...spec }), status };
}

function slice(path: string, endpoints: readonly Endpoint[]): object {
  const { namespace, name } = metadata(path);
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { namespace, name: `${name}-k2m9p`, labels: { 'kubernetes.io/service-name': name } },
    addressType: 'IPv4',
    ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
    endpoints: endpoints.map(({ address, node: nodeName, pod: of, isReady: ready = true }) => ({
      addresses: [address],
      nodeName,
      conditions: { ready, serving: ready, terminating: false },
      ...(of === undefined ? {} : { targetRef: { kind: 'Pod', namespace, name: of } }),
    })),
  };
}

function pod(name: string, { address, node: nodeName, isReady: ready = true }: Endpoint): object {
  const [app = ''] = name.split('-');
  const message = `containers with unready status: [${app}]`;
  const not = { type: 'Ready', status: 'False', reason: 'ContainersNotReady', message };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'shop', name, labels: { app } },
    spec: { nodeName },
    status: {
      podIP: address,
      podIPs: [{ ip: address }],
      conditions: [ready ? { type: 'Ready', status: 'True' } : not],
    },
  };
}
