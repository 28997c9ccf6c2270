import { canonicalIp } from '../addresses/ip.ts';
import type { SliceObject } from '../cluster/objects.ts';
import { endpointKey } from './endpoints.ts';

/** The Service that stands for the API server. Its endpoints are where the API server listens. */
export const API_SERVER = 'default/kubernetes';

/** Every `address:port` of its slices, ready or not. */
export function apiServerAddresses(slices: readonly SliceObject[]): ReadonlySet<string> {
  const keys = new Set<string>();
  for (const { ports, endpoints } of slices) {
    for (const { port } of ports) {
      for (const endpoint of endpoints) {
        const address = canonicalIp(endpoint.address);
        if (address !== undefined && port !== undefined) keys.add(endpointKey({ address, port }));
      }
    }
  }
  return keys;
}
