import { type Cidr, parseCidr } from '../../../addresses/cidr.ts';
import { NetlinkError } from '../../../linux/netlink/errors.ts';
import { createLink, deleteLink, findLink } from '../../../linux/route/change-links.ts';
import { addRoute } from '../../../linux/route/routes.ts';
import { CommandError } from '../../command-error.ts';
import { DNS_LINK, type DnsPlan } from './plan.ts';

/** systemd-resolved uses a link only if it has an address. Nobody else has this one. */
const ADDRESS = '169.254.118.1';
/** `static`: not one of the routes that the agent keeps. */
const ROUTE_PROTOCOL = 4;
const ROUTE_METRIC = 1;

/** Makes the link if there is none, with routes to the servers. */
export async function raiseLink(plan: DnsPlan): Promise<void> {
  await attempt(async () => {
    if ((await findLink(DNS_LINK)) === undefined) {
      await createLink({ name: DNS_LINK, kinds: ['dummy', 'bridge'], addresses: [ADDRESS] });
    }
    await routeServers(plan);
  });
}

export async function hasLink(): Promise<boolean> {
  return await attempt(async () => (await findLink(DNS_LINK)) !== undefined);
}

/** systemd-resolved forgets it by itself. False: there was no link. */
export async function removeLink(): Promise<boolean> {
  // Without telling systemd-resolved: while that restarts, it waits for the unit to be stopped.
  return await attempt(() => deleteLink(DNS_LINK));
}

/**
 * systemd-resolved sends by the link, and an IPv6 server without a route there is unreachable.
 * Fairlead translates the address before the packet leaves; without Fairlead it ends at the link.
 */
async function routeServers({ servers }: DnsPlan): Promise<void> {
  const link = await findLink(DNS_LINK);
  if (link === undefined) return;
  for (const to of servers.map(hostRange).filter((range) => range !== undefined)) {
    await addRoute({
      to,
      linkIndex: link.index,
      protocol: ROUTE_PROTOCOL,
      metric: ROUTE_METRIC,
      isUniversal: true,
    });
  }
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
