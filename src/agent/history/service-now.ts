import type { ForwardingTable } from '../../forwarding/table.ts';
import type { ServiceNow } from './history-page.ts';

/** `service`: `namespace/name`. */
export function serviceNow(
  table: Pick<ForwardingTable, 'service' | 'slicesOf'>,
  service: string,
): ServiceNow {
  let [endpoints, ready] = [0, 0];
  for (const slice of table.slicesOf(service)) {
    endpoints += slice.endpoints.length;
    for (const endpoint of slice.endpoints) if (endpoint.ready) ready++;
  }
  return { exists: table.service(service) !== undefined, endpoints, ready };
}
