import { type Cidr, parseCidr } from '../../../addresses/cidr.ts';
import { formatIp } from '../../../addresses/ip.ts';
import {
  addMarkRule,
  countRules,
  deleteMarkRule,
  type MarkRule,
} from '../../../linux/route/mark-rules.ts';
import type { RouteSpec } from '../../../linux/route/route-requests.ts';
import { deleteRoute, replaceRoute, selectRoutes } from '../../../linux/route/routes.ts';

/**
 * A table of its own, so that addresses of pods do not count as the machine's own:
 *
 *   ip rule    119: from all lookup 120
 *   ip route   local 10.244.1.5 dev lo table 120 src 127.0.0.1
 */
const PROTOCOL = 120;
const TABLE = 120;
const PRIORITY = 119;
const LOOPBACK_INDEX = 1;
const FAMILIES = ['IPv4', 'IPv6'] as const;

export async function addLookup(hasIPv6: boolean): Promise<void> {
  for (const family of hasIPv6 ? FAMILIES : (['IPv4'] as const))
    await addMarkRule(lookupRule(family));
}

/** Puts the machine back as it was, also after a run that could not. */
export async function removeLookupAndRoutes(): Promise<void> {
  for (const family of FAMILIES) await deleteMarkRule(lookupRule(family));
  for (const address of await routedAddresses()) await removePodRoute(address);
}

/** What is in the kernel now, of this process or of one that was killed. */
export async function countLookupAndRoutes(): Promise<{ rules: number; routes: number }> {
  return { rules: await countRules(PROTOCOL), routes: (await routedAddresses()).length };
}

async function routedAddresses(): Promise<readonly string[]> {
  const isOurs = ({ protocol, table }: { protocol: number; table: number }): boolean =>
    protocol === PROTOCOL && table === TABLE;
  const routes = await selectRoutes(FAMILIES, () => isOurs);
  return routes.map(({ to }) => formatIp(to.base));
}

export async function addPodRoute(address: string): Promise<void> {
  const source = address.includes(':') ? '::1' : '127.0.0.1';
  await replaceRoute({ ...routeTo(address), source });
}

export async function removePodRoute(address: string): Promise<void> {
  await deleteRoute(routeTo(address));
}

function lookupRule(family: (typeof FAMILIES)[number]): MarkRule {
  // Every packet has the mark 0 of no bits.
  return { family, mark: 0, priority: PRIORITY, table: TABLE, protocol: PROTOCOL };
}

function routeTo(address: string): RouteSpec {
  return {
    to: parseCidr(`${address}/${address.includes(':') ? 128 : 32}`) as Cidr,
    linkIndex: LOOPBACK_INDEX,
    protocol: PROTOCOL,
    metric: 0,
    type: 'local',
    table: TABLE,
  };
}
