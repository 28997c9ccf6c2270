import { type Cidr, contains, parseCidr } from '../addresses/cidr.ts';
import { type IpAddress, parseIp } from '../addresses/ip.ts';
import type { Family, Forwarding } from '../forwarding/model.ts';
import { linksWithoutCarrier } from '../linux/route/link-carrier.ts';
import type { MachineLink } from '../linux/route/link-codec.ts';
import { RouteLookup } from '../linux/route/lookup-now.ts';
import { selectRoutes } from '../linux/route/machine-routes.ts';
import type { MachineRoute } from '../linux/route/route-codec.ts';
import { listLinks } from '../linux/route/watch-links.ts';

/** Endpoints that are looked up; a cluster may have 80,000 of one Service. */
const MOST_LOOKED_UP = 5000;

/** An endpoint of some Service, and where this machine sends its packets. */
export interface PlacedEndpoint {
  readonly address: string;
  readonly family: Family;
  /** One of the Services that it serves, as `namespace/name`. */
  readonly service: string;
  /** Whether it is on this node. */
  readonly isLocal: boolean;
  /** An address of this machine, as pods in the network of the node have. */
  readonly isOwnAddress: boolean;
  /** Undefined: no route. */
  readonly link: MachineLink | undefined;
  /** Its link is down, or has no carrier. */
  readonly isLinkDown?: true;
  /** Whether it is reached by a default route only. */
  readonly isByDefault: boolean;
}

/** Links of this machine, and which of them lead to pods. */
export interface Places {
  readonly links: readonly MachineLink[];
  readonly endpoints: readonly PlacedEndpoint[];
  /** Links that lead to pods of this node. */
  readonly podLinks: readonly MachineLink[];
  /** Links of default routes, and of routes to pods of other nodes. */
  readonly uplinks: readonly MachineLink[];
}

/** Asks the kernel for the route to each endpoint. */
export async function readPlaces(rows: readonly Forwarding[]): Promise<Places> {
  const links = await listLinks();
  const dead = await linksWithoutCarrier();
  const byIndex = new Map(links.map((link) => [link.index, link]));
  const defaults = await selectRoutes(['IPv4', 'IPv6'], () => isDefault);
  const ranges = await selectRoutes(['IPv4', 'IPv6'], () => (route) => !isDefault(route));
  const isCovered = coverage(ranges);
  using lookup = new RouteLookup();
  const endpoints = knownEndpoints(rows).map((known): PlacedEndpoint => {
    const found = lookup.lookUp(known.ip);
    const link = found === undefined ? undefined : byIndex.get(found.linkIndex);
    const isOwnAddress = found?.isLocal === true;
    const { address, family, service, isLocal } = known;
    // Only asked of the few endpoints of this node: it compares with every route.
    const isByDefault = isLocal && link !== undefined && !isOwnAddress && !isCovered(known.ip);
    const isDown = link !== undefined && dead.has(link.index);
    const place = { address, family, service, isLocal, isOwnAddress, link, isByDefault };
    return isDown ? { ...place, isLinkDown: true } : place;
  });
  const routed = endpoints.filter(({ isOwnAddress }) => !isOwnAddress);
  const onThisNode = routed.filter(({ isLocal, isByDefault }) => isLocal && !isByDefault);
  const podLinks = distinct(onThisNode.flatMap(({ link }) => link ?? []));
  const toOthers = routed.filter(({ isLocal }) => !isLocal).flatMap(({ link }) => link ?? []);
  const ofDefaults = defaults.flatMap(({ hops }) =>
    hops.flatMap(({ linkIndex }) => byIndex.get(linkIndex) ?? []),
  );
  const isUplink = (link: MachineLink): boolean => !link.loopback && !podLinks.includes(link);
  return {
    links,
    endpoints,
    podLinks,
    uplinks: distinct([...ofDefaults, ...toOthers].filter(isUplink)),
  };
}

interface KnownEndpoint {
  readonly address: string;
  readonly ip: IpAddress;
  readonly family: Family;
  readonly service: string;
  readonly isLocal: boolean;
}

/** Each address once; those of this node first, so that none of them is left out. */
function knownEndpoints(rows: readonly Forwarding[]): readonly KnownEndpoint[] {
  const found = new Map<string, KnownEndpoint>();
  for (const { id, clusterEndpoints, localEndpoints } of rows) {
    const service = `${id.namespace}/${id.service}`;
    for (const { address, local } of [...localEndpoints, ...clusterEndpoints]) {
      const ip = parseIp(address);
      if (ip === undefined || found.has(address)) continue;
      found.set(address, { address, ip, family: id.family, service, isLocal: local });
    }
  }
  const ordered = [...found.values()].sort((a, b) => Number(b.isLocal) - Number(a.isLocal));
  return ordered.slice(0, MOST_LOOKED_UP);
}

function isDefault({ to, type }: MachineRoute): boolean {
  return to.prefixLength === 0 && type === 'unicast';
}

/** Whether a route other than a default one leads to an address. */
function coverage(routes: readonly MachineRoute[]): (address: IpAddress) => boolean {
  const unicast = routes.filter(({ type }) => type === 'unicast' || type === 'local');
  const ranges: readonly Cidr[] = unicast.map(({ to }) => to);
  return (address) => ranges.some((range) => contains(range, address));
}

function distinct(links: readonly MachineLink[]): readonly MachineLink[] {
  return [...new Set(links)].sort((a, b) => a.index - b.index);
}

/** Whether the text of a range has the text of an address. */
export function isInRange(range: string, address: string): boolean {
  const [cidr, ip] = [parseCidr(range), parseIp(address)];
  return cidr !== undefined && ip !== undefined && contains(cidr, ip);
}
