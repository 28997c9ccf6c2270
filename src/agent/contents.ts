import type { ForwardingTable } from '../forwarding/table.ts';

/** The contents of the rows of a node. */
export interface Contents {
  readonly services: number;
  /** Served addresses and ports; a node port counts as one, on any number of addresses. */
  readonly frontends: number;
  /** Over all service ports: a pod with two ports is two. */
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
