import { formatCidr } from '../../addresses/cidr.ts';
import type { MachineLink } from './link-codec.ts';
import type { MachineRoute, RouteHop } from './route-codec.ts';

/** As `ip route` prints it: `default via 192.0.2.1 dev eth0`. */
export function routeText(route: MachineRoute, links: readonly MachineLink[]): string {
  const type = route.type === 'unicast' ? '' : `${route.type} `;
  const to = route.to.prefixLength === 0 ? 'default' : formatCidr(route.to);
  const [first, ...others] = route.hops;
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  return `${type}${to}${first ? hopText(first, links) : ''}${more}`;
}

function hopText({ gateway, linkIndex }: RouteHop, links: readonly MachineLink[]): string {
  const name = links.find(({ index }) => index === linkIndex)?.name ?? `link ${linkIndex}`;
  return `${gateway === undefined ? '' : ` via ${gateway}`} dev ${name}`;
}
