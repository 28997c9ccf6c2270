import type { EndpointCount } from '../../../dataplanes/contract.ts';
import type { WireEndpoint, WireEndpointCount } from './protocol.ts';

export function endpointCount(count: WireEndpointCount): EndpointCount {
  const { row, endpoint, ...streams } = count;
  return {
    service: row,
    endpoint: endpointText(endpoint),
    connections: streams.connections,
    bytes: streams.bytesToEndpoint + streams.bytesToClient,
    streams,
  };
}

/** As the other planes write it: `[fd00::1]:80`. */
function endpointText(endpoint: WireEndpoint): string {
  const [address = '', port = ''] = endpoint.split(' ');
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}
