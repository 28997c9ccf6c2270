import { canonicalIp } from '../addresses/ip.ts';
import type { SliceObject } from '../cluster/objects.ts';
import { endpointKey } from './endpoints.ts';

/** The Service of the API server. Its endpoints are the addresses of the API server. */
export const API_SERVER = 'default/kubernetes';

/** Every `address:port` of its slices, ready or not. */
export function apiServerAddresses(slices: readonly SliceObject[]): ReadonlyMap<string, string> {
  const addresses = new Map<string, string>();
  for (const { ports, endpoints } of slices) {
    for (const { port } of ports) {
      for (const endpoint of endpoints) {
        const address = canonicalIp(endpoint.address);
        if (address === undefined || port === undefined) continue;
        addresses.set(endpointKey({ address, port }), address);
      }
    }
  }
  return addresses;
}
