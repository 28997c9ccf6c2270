import { type Cidr, contains } from '../../addresses/cidr.ts';
import { isOurs } from './our-routes.ts';
import type { MachineRoute } from './route-codec.ts';

/**
 * Chooses the routes that matter for ranges, so that the others of a router are not kept in memory:
 * ours, those that may cover a range, and one with a gateway for each link.
 */
export function routeSieve(ranges: readonly Cidr[]): (route: MachineRoute) => boolean {
  const uplinks = new Set<number>();
  return (route) => {
    const before = uplinks.size;
    for (const { gateway, linkIndex } of route.hops) if (gateway) uplinks.add(linkIndex);
    if (uplinks.size > before || isOurs(route)) return true;
    return ranges.some(({ base }) => contains(route.to, base));
  };
}
