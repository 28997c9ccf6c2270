import type { EndpointCount } from '../../../dataplanes/contract.ts';
import { endpointKey } from '../../../forwarding/endpoints.ts';
import type { ServicePortKey } from '../../../forwarding/model.ts';
import type { Ipvs } from '../../../linux/ipvs/ipvs-model.ts';
import type { DeclinedRows } from './room.ts';
import { type Found, keyOfId } from './server-state.ts';

/** What IPVS holds for us, summed up over all virtual servers; its cost is that of one full read. */
export interface IpvsReport {
  readonly virtualServers: number;
  /** Those that get new connections. */
  readonly destinations: number;
  /** Removed from their row, and kept until their connections end. */
  readonly drainingDestinations: number;
  readonly activeConnections: number;
  readonly inactiveConnections: number;
  /** Virtual servers by scheduler, sorted by name. */
  readonly schedulers: readonly { readonly name: string; readonly virtualServers: number }[];
  readonly declined?: DeclinedRows;
}

/** Sums over all virtual servers of ours. */
export function reportOf({ servers, elements }: Found): IpvsReport {
  const sums = {
    ...{ virtualServers: 0, destinations: 0, drainingDestinations: 0 },
    ...{ activeConnections: 0, inactiveConnections: 0 },
  };
  const schedulers = new Map<string, number>();
  for (const id of elements.servers.keys()) {
    const found = servers.get(id);
    if (found === undefined) continue;
    sums.virtualServers += 1;
    const { scheduler } = found.server;
    schedulers.set(scheduler, (schedulers.get(scheduler) ?? 0) + 1);
    for (const { weight, activeConnections, inactiveConnections } of found.destinations) {
      if (weight === 0) sums.drainingDestinations += 1;
      else sums.destinations += 1;
      sums.activeConnections += activeConnections;
      sums.inactiveConnections += inactiveConnections;
    }
  }
  const byName = [...schedulers].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    ...sums,
    schedulers: byName.map(([name, virtualServers]) => ({ name, virtualServers })),
  };
}

/** What the destinations of these virtual servers have counted since each was added. */
export async function readCounters(
  ipvs: Ipvs,
  owners: ReadonlyMap<string, ServicePortKey>,
): Promise<readonly EndpointCount[]> {
  const found = await ipvs.destinationsOf([...owners.keys()].map(keyOfId));
  const counts = new Map<string, EndpointCount>();
  for (const [id, destinations] of found) {
    const service = owners.get(id) ?? '';
    for (const each of destinations) {
      const endpoint = endpointKey(each);
      const name = `${service} ${endpoint}`;
      const known = counts.get(name);
      counts.set(name, {
        service,
        endpoint,
        connections: each.connections + (known?.connections ?? 0),
        bytes: each.bytesIn + each.bytesOut + (known?.bytes ?? 0),
      });
    }
  }
  return [...counts.values()];
}
