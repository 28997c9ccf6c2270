/** The last in the order of names, behind all that was loaded. */
export const NAMESPACE = 'zz-bench';

/** Addresses that no loaded Service has; chosen, so that Services written past the allocator cannot meet them. */
export const CLUSTER_IPS = {
  last: '10.111.0.1',
  data: '10.111.0.2',
  rolling: '10.111.0.3',
  bulk: (index: number) => `10.111.${16 + (index >> 8)}.${index & 0xff}`,
} as const;

export const SERVE_PORT = 8080;
export const SERVICE_PORT = 80;

export function sliceLabels(service: string): Record<string, string> {
  return {
    'kubernetes.io/service-name': service,
    'endpointslice.kubernetes.io/managed-by': 'bench.fairlead',
  };
}

export function readyEndpoint(address: string, nodeName = 'node1'): object {
  return {
    addresses: [address],
    nodeName,
    conditions: { ready: true, serving: true, terminating: false },
  };
}
