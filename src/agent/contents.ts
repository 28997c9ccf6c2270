import type { ForwardingTable } from '../forwarding/table.ts';

/** What the rows of a node are made of. */
export interface Contents {
  readonly services: number;
  /** Addresses and ports that are served; a node port is one, on however many addresses. */
  readonly frontends: number;
  /** Of all service ports together: a pod with two ports is two. */
  readonly endpoints: number;
}

export function contentsOf(table: Pick<ForwardingTable, 'serviceNames' | 'ofService'>): Contents {
  let [services, frontends, endpoints] = [0, 0, 0];
  for (const name of table.serviceNames()) {
    const rows = table.ofService(name);
    if (rows.length > 0) services++;
    for (const row of rows) {
      for (const { notServed } of row.frontends) if (notServed === undefined) frontends++;
      endpoints += row.clusterEndpoints.length;
    }
  }
  return { services, frontends, endpoints };
}
