import { type Cidr, formatCidr, parseCidr } from '../../../addresses/cidr.ts';
import { CommandError } from '../../../commands/command-error.ts';
import { NetlinkError } from '../../../linux/netlink/netlink-error.ts';
import { createLink, deleteLink, findLink } from '../../../linux/route/change-links.ts';
import {
  addRoute,
  deleteRoute,
  FAMILIES,
  selectRoutes,
} from '../../../linux/route/machine-routes.ts';
import type { MachineRoute } from '../../../linux/route/route-codec.ts';
import type { RouteSpec } from '../../../linux/route/route-requests.ts';
import { DNS_LINK, type DnsPlan } from './dns-plan.ts';

/** systemd-resolved uses a link only if it has an address. This one is in no routable range. */
const ADDRESS = '169.254.118.1';
/** `static`: not one of the routes that the agent keeps. */
const ROUTE_PROTOCOL = 4;
const ROUTE_METRIC = 1;

/**
 * Makes the link if there is none, with routes to the servers and to no others. One that is there
 * stays: while there is none, names of the cluster are asked of other servers.
 */
export async function raiseLink(plan: DnsPlan): Promise<void> {
  await attempt(async () => {
    const found = await findLink(DNS_LINK);
    if (found?.up === false) await deleteLink(DNS_LINK);
    if (!found?.up) {
      await createLink({ name: DNS_LINK, kinds: ['dummy', 'veth'], addresses: [ADDRESS] });
    }
    await routeServers(plan);
  });
}

export async function hasLink(): Promise<boolean> {
  return await attempt(async () => (await findLink(DNS_LINK)) !== undefined);
}

/** systemd-resolved forgets it by itself. False: there was no link. */
export async function removeLink(): Promise<boolean> {
  // Without a call to systemd-resolved, which may be stopping and waiting for the unit to stop.
  return await attempt(() => deleteLink(DNS_LINK));
}

/**
 * systemd-resolved sends by the link, and an IPv6 server without a route there is unreachable.
 * Fairlead translates the address before the packet leaves; without Fairlead it ends at the link.
 */
async function routeServers({ servers }: DnsPlan): Promise<void> {
  const link = await findLink(DNS_LINK);
  if (link === undefined) return;
  const wanted = servers.map(hostRange).filter((range) => range !== undefined);
  for (const to of wanted) await addRoute(serverRoute(to, link.index));
  const texts = new Set(wanted.map(formatCidr));
  const isOld = ({ to, protocol, hops }: MachineRoute): boolean =>
    protocol === ROUTE_PROTOCOL &&
    hops.some(({ linkIndex }) => linkIndex === link.index) &&
    !texts.has(formatCidr(to));
  for (const { to } of await selectRoutes(FAMILIES, () => isOld)) {
    await deleteRoute(serverRoute(to, link.index));
  }
}

function serverRoute(to: Cidr, linkIndex: number): RouteSpec {
  return { to, linkIndex, protocol: ROUTE_PROTOCOL, metric: ROUTE_METRIC, isUniversal: true };
}

function hostRange(address: string): Cidr | undefined {
  return parseCidr(`${address}/${address.includes(':') ? 128 : 32}`);
}

async function attempt<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof NetlinkError)) throw error;
    throw new CommandError(`interface ${DNS_LINK}: ${error.message}`, {
      code: 'DNS_LINK_FAILED',
      next: 'run it as root; an interface of that name that is not of Fairlead must be renamed',
      cause: error,
    });
  }
}
