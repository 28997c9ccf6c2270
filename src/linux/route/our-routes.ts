import type { Cidr } from '../../addresses/cidr.ts';
import type { MachineRoute } from './route-codec.ts';
import { type RouteSpec, RT_TABLE_MAIN } from './route-requests.ts';
import { deleteRoute, listRoutes } from './routes.ts';

/**
 * Marks routes as Fairlead's. No number of the kernel (RTPROT_*, up to 18, 42, 99, 186 to 192), of
 * iproute2's rt_protos, FRR (191 to 198), OVN (84) or Calico (80).
 */
export const FAIRLEAD_PROTOCOL = 118;
/** The worst that there is: any other route to the same range wins. */
const WORST_METRIC = 0xffff_ffff;

/**
 * A route to a range that leads to loopback, as unicast: type local would make every address of the
 * range one of this machine. What a plane does not translate ends there: IPv4 drops it, IPv6 reports
 * that the network is unreachable.
 */
export function rangeRoute(to: Cidr, loopbackIndex: number): RouteSpec {
  return {
    to,
    linkIndex: loopbackIndex,
    protocol: FAIRLEAD_PROTOCOL,
    metric: WORST_METRIC,
  };
}

/** Whether `rangeRoute` made it: the same shape, so that one of another shape is replaced. */
export function isRangeRoute(route: MachineRoute, loopbackIndex: number): boolean {
  const [hop, ...others] = route.hops;
  const isPlain = route.type === 'unicast' && others.length === 0 && route.source === undefined;
  const leadsToLoopback = hop?.linkIndex === loopbackIndex && hop.gateway === undefined;
  const isWorst = route.table === RT_TABLE_MAIN && route.metric === WORST_METRIC;
  return isOurs(route) && isPlain && leadsToLoopback && isWorst;
}

export function isOurs({ protocol }: Pick<MachineRoute, 'protocol'>): boolean {
  return protocol === FAIRLEAD_PROTOCOL;
}

/** Removes a route with our protocol number, whatever its shape. */
export async function removeRoute(route: MachineRoute): Promise<boolean> {
  const { to, protocol, metric, table, type, hops } = route;
  return deleteRoute({ to, protocol, metric, table, type, linkIndex: hops[0]?.linkIndex ?? 0 });
}

/** All routes that Fairlead made, in any table. */
export async function listOurRoutes(): Promise<readonly MachineRoute[]> {
  return (await listRoutes()).filter(isOurs);
}
