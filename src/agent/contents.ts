import { setImmediate as nextIteration } from 'node:timers/promises';
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
/** About half a millisecond. */
const COUNTED_AT_ONCE = 500;

/** Counts over several iterations of the event loop: 50,000 Services take longer than a change may wait. */
export async function contentsOf(
  table: Pick<ForwardingTable, 'serviceNames' | 'ofService'>,
): Promise<Contents> {
  let [services, frontends, endpoints] = [0, 0, 0];
  const ignored = { count: 0, first: [] as { service: string; fault: string }[] };
  for (const [at, name] of table.serviceNames().entries()) {
    if (at % COUNTED_AT_ONCE === COUNTED_AT_ONCE - 1) await nextIteration();
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
