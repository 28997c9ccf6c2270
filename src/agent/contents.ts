import type { ForwardingTable } from '../forwarding/table.ts';

/** The contents of the rows of a node. */
export interface Contents {
  readonly services: number;
  /** Served addresses and ports; a node port counts as one, on any number of addresses. */
  readonly frontends: number;
  /** Over all service ports: a pod with two ports is two. */
  readonly endpoints: number;
  /** Services whose annotation for IPVS cannot be used. Absent: none. */
  readonly ignoredSchedulers?: IgnoredSchedulers;
}

interface IgnoredSchedulers {
  readonly count: number;
  readonly first: readonly { readonly service: string; readonly fault: string }[];
}

/** Of those that are reported one by one. */
const MOST_NAMED = 10;

export function contentsOf(table: Pick<ForwardingTable, 'serviceNames' | 'ofService'>): Contents {
  let [services, frontends, endpoints] = [0, 0, 0];
  const ignored = { count: 0, first: [] as { service: string; fault: string }[] };
  for (const name of table.serviceNames()) {
    const rows = table.ofService(name);
    if (rows.length > 0) services++;
    const fault = rows[0]?.schedulerFault;
    if (fault !== undefined) {
      ignored.count++;
      if (ignored.first.length < MOST_NAMED) ignored.first.push({ service: name, fault });
    }
    for (const row of rows) {
      for (const { notServed } of row.frontends) if (notServed === undefined) frontends++;
      endpoints += row.clusterEndpoints.length;
    }
  }
  return {
    services,
    frontends,
    endpoints,
    ...(ignored.count === 0 ? {} : { ignoredSchedulers: ignored }),
  };
}
