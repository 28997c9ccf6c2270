/** Services of the tests of `fairlead top`, at fixed addresses. */
export const SHOP = {
  busy: '10.96.0.1',
  empty: '10.96.0.2',
  partly: '10.96.0.3',
  /** A load balancer's address with policy Local, and no endpoint on this node. */
  elsewhere: '203.0.113.10',
} as const;

const NAMESPACE = 'shop';

interface Part {
  readonly address: string;
  readonly isReady: boolean;
  readonly nodeName: string;
}

/** `endpoints`: three pods of this node. `notReady`: those of `busy` that are not, by number. */
export function shopManifests(
  endpoints: readonly string[],
  notReady: readonly number[] = [],
): string {
  const [one = '', two = '', three = ''] = endpoints;
  const here = (address: string, isReady = true): Part => ({ address, isReady, nodeName: 'node1' });
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'List',
    items: [
      service('busy', { clusterIP: SHOP.busy }),
      slice(
        'busy',
        [one, two, three].map((address, at) => here(address, !notReady.includes(at))),
      ),
      service('empty', { clusterIP: SHOP.empty }),
      service('partly', { clusterIP: SHOP.partly }),
      slice('partly', [here(one), here(two, false)]),
      {
        ...service('elsewhere', {
          clusterIP: '10.96.0.4',
          type: 'LoadBalancer',
          externalTrafficPolicy: 'Local',
        }),
        status: { loadBalancer: { ingress: [{ ip: SHOP.elsewhere }] } },
      },
      slice('elsewhere', [{ address: '10.244.77.7', isReady: true, nodeName: 'node2' }]),
    ],
  });
}

function service(
  name: string,
  { clusterIP, ...spec }: { clusterIP: string; [field: string]: string },
) {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: NAMESPACE, uid: name },
    spec: {
      clusterIP,
      clusterIPs: [clusterIP],
      ipFamilies: ['IPv4'],
      ports: [{ name: 'http', port: 80, targetPort: 8080, protocol: 'TCP' }],
      ...spec,
    },
  };
}

function slice(name: string, parts: readonly Part[]) {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name: `${name}-1`,
      namespace: NAMESPACE,
      labels: { 'kubernetes.io/service-name': name },
    },
    addressType: 'IPv4',
    ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
    endpoints: parts.map(({ address, isReady, nodeName }) => ({
      addresses: [address],
      nodeName,
      conditions: { ready: isReady, serving: isReady, terminating: false },
    })),
  };
}
