import { type Cidr, contains, parseCidrs } from '../../../addresses/cidr.ts';
import type { MachineLink } from '../../../linux/route/link-codec.ts';
import { leadsSomewhere, listRoutes } from '../../../linux/route/machine-routes.ts';
import { isOurs } from '../../../linux/route/our-routes.ts';
import type { MachineRoute } from '../../../linux/route/route-codec.ts';
import { routeText } from '../../../linux/route/route-text.ts';
import { listLinks } from '../../../linux/route/watch-links.ts';
import { DNS_LINK } from '../dns/dns-plan.ts';

/** A network that this machine has a route to, which is not that of everything. */
export interface KnownNetwork {
  readonly to: Cidr;
  /** As `ip route` prints it. */
  readonly text: string;
  readonly link: string;
  /** Of the link, such as `bridge`; empty for hardware. */
  readonly kind: string;
  /** Its hosts are neighbours on the link; otherwise a gateway leads there. */
  readonly isConnected: boolean;
}

/** Networks, links and addresses of the machine, without those that Fairlead made. */
export interface MachineView {
  readonly networks: readonly KnownNetwork[];
  /** Own addresses, without loopback. */
  readonly addresses: readonly { readonly address: Cidr; readonly link: string }[];
  readonly links: readonly MachineLink[];
  /** Names of links by which gateways are reached. */
  readonly uplinks: readonly string[];
}

const LOCAL_TABLE = 255;
const MAIN_TABLE = 254;

export async function readMachine(): Promise<MachineView> {
  const links = await listLinks();
  const ownLink = links.find(({ name }) => name === DNS_LINK)?.index;
  const isForeign = (route: MachineRoute): boolean =>
    !isOurs(route) && !route.hops.some(({ linkIndex }) => linkIndex === ownLink);
  const routes = (await listRoutes()).filter((route) => isForeign(route) && leadsSomewhere(route));
  const nameOf = (index: number): string => links.find((link) => link.index === index)?.name ?? '';
  const isLoopback = ({ hops }: MachineRoute): boolean =>
    links.some(({ loopback, index }) => loopback && index === hops[0]?.linkIndex);
  // Routes to the cluster's DNS by the link of `fairlead outside dns` hide nothing.
  const main = routes.filter(
    ({ table, type, hops }) =>
      table === MAIN_TABLE && type === 'unicast' && nameOf(hops[0]?.linkIndex ?? 0) !== DNS_LINK,
  );
  const own = routes.filter((route) => route.table === LOCAL_TABLE && route.type === 'local');
  return {
    networks: main
      .filter((route) => route.to.prefixLength > 0 && !isLoopback(route) && !isLinkLocal(route.to))
      .map((route) => networkOf(route, links)),
    addresses: own
      .filter((route) => !isLoopback(route) && !isLinkLocal(route.to))
      .map(({ to, hops }) => ({ address: to, link: nameOf(hops[0]?.linkIndex ?? 0) })),
    links,
    uplinks: [...new Set(main.flatMap(({ hops }) => gatewayLinks(hops)).map(nameOf))],
  };
}

function networkOf(route: MachineRoute, links: readonly MachineLink[]): KnownNetwork {
  const [hop] = route.hops;
  const link = links.find(({ index }) => index === hop?.linkIndex);
  return {
    to: route.to,
    text: routeText(route, links),
    link: link?.name ?? '',
    kind: link?.kind ?? '',
    isConnected: hop?.gateway === undefined,
  };
}

function gatewayLinks(hops: MachineRoute['hops']): number[] {
  return hops.flatMap(({ gateway, linkIndex }) => (gateway === undefined ? [] : [linkIndex]));
}

const LINK_LOCAL = parseCidrs(['169.254.0.0/16', 'fe80::/10', 'ff00::/8']);

function isLinkLocal({ base }: Cidr): boolean {
  return LINK_LOCAL.some((range) => contains(range, base));
}
