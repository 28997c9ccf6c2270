import type { Cidr } from '../../addresses/cidr.ts';
import type { MachineLink } from './link-codec.ts';
import { deleteRoute, FAMILIES, selectRoutes } from './machine-routes.ts';
import type { MachineRoute } from './route-codec.ts';
import { type RouteSpec, RT_TABLE_MAIN } from './route-requests.ts';

/**
 * Marks routes as Fairlead's. No number of the kernel (RTPROT_*, up to 18, 42, 99, 186 to 192), of
 * iproute2's rt_protos, FRR (191 to 198), OVN (84) or Calico (80).
 */
export const FAIRLEAD_PROTOCOL = 118;
/** The worst that there is: any other route to the same range wins. */
const WORST_METRIC = 0xffff_ffff;

/** What a route of ours needs to know of the machine. */
export interface RouteGround {
  readonly loopbackIndex: number;
  /** Of the links that packets will leave by. */
  readonly mtu: number;
}

/** Every link of IPv6 takes packets of this size. */
const LEAST_MTU = 1280;
const USUAL_MTU = 1500;

/**
 * Loopback takes packets of 64 KiB, but what is sent to a Service leaves by another link: with the
 * MTU of loopback a machine would tell pods to send segments that do not fit the way back. Links
 * with a gateway count, or all if there are none.
 */
export function routeGround(
  links: readonly MachineLink[],
  routes: readonly MachineRoute[],
): RouteGround {
  const hops = routes.flatMap((route) => route.hops);
  const uplinks = new Set(hops.filter(({ gateway }) => gateway).map(({ linkIndex }) => linkIndex));
  const real = links.filter(({ loopback, up, mtu }) => !loopback && up && mtu >= LEAST_MTU);
  const chosen = real.filter(({ index }) => uplinks.has(index));
  const mtus = (chosen.length > 0 ? chosen : real).map(({ mtu }) => mtu);
  return {
    loopbackIndex: links.find(({ loopback }) => loopback)?.index ?? 1,
    mtu: mtus.length === 0 ? USUAL_MTU : Math.min(...mtus),
  };
}

/**
 * A route to a range that leads to loopback, as unicast: type local would make every address of the
 * range one of this machine. What a plane does not translate ends there.
 */
export function rangeRoute(to: Cidr, { loopbackIndex, mtu }: RouteGround): RouteSpec {
  return {
    to,
    linkIndex: loopbackIndex,
    protocol: FAIRLEAD_PROTOCOL,
    metric: WORST_METRIC,
    mtu,
  };
}

/** Whether it has the place of one that `rangeRoute` makes, so that it can be replaced at once. */
export function isInPlace(route: MachineRoute): boolean {
  return isOurs(route) && route.table === RT_TABLE_MAIN && route.metric === WORST_METRIC;
}

/** Whether `rangeRoute` makes the same. */
export function isRangeRoute(route: MachineRoute, ground: RouteGround): boolean {
  const [hop, ...others] = route.hops;
  const isPlain = route.type === 'unicast' && others.length === 0 && route.source === undefined;
  const isLoopback = hop?.linkIndex === ground.loopbackIndex && hop.gateway === undefined;
  return isInPlace(route) && isPlain && isLoopback && route.mtu === ground.mtu;
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
  // At the start of every agent, also on a router with a million routes.
  return await selectRoutes(FAMILIES, () => isOurs);
}
