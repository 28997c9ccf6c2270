import { constants } from 'node:os';
import type { IpAddress } from '../../addresses/ip.ts';
import { NetlinkRejection } from '../netlink/netlink-error.ts';
import { dump, request } from '../netlink/netlink-exchange.ts';
import { type Netlink, openNetlink } from '../netlink/netlink-socket.ts';
import { type MachineRoute, readRouteEvent } from './route-codec.ts';
import { type DumpQuestion, NETLINK_ROUTE } from './route-protocol.ts';
import { lookupQuestion, type RouteSpec, routeRequest, routesQuestion } from './route-requests.ts';

export const FAMILIES = ['IPv4', 'IPv6'] as const;
/** Attempts when the list changes while it is read. */
const MOST_TORN_LISTS = 10;
const { EACCES, EEXIST, EHOSTUNREACH, EINVAL, ENETUNREACH, ESRCH } = constants.errno;
/** No route; and what routes of the types unreachable, prohibit and blackhole give. */
const UNREACHABLE = new Set([ENETUNREACH, EHOSTUNREACH, EACCES, EINVAL]);

/** The path to an address, or why there is none. */
export type RouteFound =
  | {
      readonly found: true;
      readonly linkIndex: number;
      readonly gateway: string | undefined;
      /** The source address of a connection. */
      readonly source: string | undefined;
      readonly type: MachineRoute['type'];
      /** The entry of the routing table that was used. */
      readonly match: MachineRoute | undefined;
    }
  | { readonly found: false; readonly code: string };

/** All routes of all tables, or those of one family. */
export async function listRoutes(
  families: readonly MachineRoute['family'][] = FAMILIES,
): Promise<readonly MachineRoute[]> {
  return await selectRoutes(families, () => () => true);
}

/** Those that a sieve keeps; each attempt to read a family has a new one. */
export async function selectRoutes(
  families: readonly MachineRoute['family'][],
  sieve: () => (route: MachineRoute) => boolean,
): Promise<readonly MachineRoute[]> {
  using netlink = openNetlink({ protocol: NETLINK_ROUTE });
  const lists: (readonly MachineRoute[])[] = [];
  for (const family of families) lists.push(await listFamily(netlink, family, sieve));
  return lists.flat();
}

/** Asks the kernel where a packet from this machine to the address would go. */
export async function lookUpRoute(address: IpAddress): Promise<RouteFound> {
  using netlink = openNetlink({ protocol: NETLINK_ROUTE });
  const path = await ask(netlink, lookupQuestion(address, { answer: 'path', sequence: 1 }));
  if ('code' in path) return { found: false, code: path.code };
  const hop = path.route?.hops[0];
  // IPv6 answers with the route of type unreachable or blackhole instead of an error.
  if (path.route === undefined || hop === undefined || !leadsSomewhere(path.route)) {
    return { found: false, code: 'ENETUNREACH' };
  }
  const match = await ask(netlink, lookupQuestion(address, { answer: 'match', sequence: 2 }));
  const { linkIndex, gateway } = hop;
  const { source, type } = path.route;
  const entry = 'code' in match ? undefined : match.route;
  return { found: true, linkIndex, gateway, source, type, match: entry };
}

/** Rejects with a NetlinkError; false: there is such a route already. */
export async function addRoute(route: RouteSpec): Promise<boolean> {
  return change(routeRequest('add', route, 1), EEXIST);
}

/** Puts the route in the place of one with the same range, table and metric, or adds it. */
export async function replaceRoute(route: RouteSpec): Promise<void> {
  await change(routeRequest('replace', route, 1), EEXIST);
}

/** Rejects with a NetlinkError; false: there is no such route. */
export async function deleteRoute(route: RouteSpec): Promise<boolean> {
  return change(routeRequest('delete', route, 1), ESRCH);
}

/** Sends a request; false for the one error that means there is nothing to do. */
export async function change(question: DumpQuestion, doneErrno: number): Promise<boolean> {
  using netlink = openNetlink({ protocol: NETLINK_ROUTE });
  try {
    await request(netlink, question);
    return true;
  } catch (error) {
    if (error instanceof NetlinkRejection && error.errno === doneErrno) return false;
    throw error;
  }
}

async function listFamily(
  netlink: Netlink,
  family: MachineRoute['family'],
  sieve: () => (route: MachineRoute) => boolean,
): Promise<readonly MachineRoute[]> {
  for (let sequence = 1; ; sequence++) {
    const routes: MachineRoute[] = [];
    const isWanted = sieve();
    const { consistent } = await dump(netlink, routesQuestion(family, sequence), (message) => {
      const event = readRouteEvent(message);
      if (event?.route.family === family && isWanted(event.route)) routes.push(event.route);
    });
    if (consistent || sequence >= MOST_TORN_LISTS) return routes;
  }
}

async function ask(
  netlink: Netlink,
  question: DumpQuestion,
): Promise<{ readonly route: MachineRoute | undefined } | { readonly code: string }> {
  let route: MachineRoute | undefined;
  try {
    await request(netlink, question, (message) => {
      route ??= readRouteEvent(message)?.route;
    });
    return { route };
  } catch (error) {
    if (error instanceof NetlinkRejection && UNREACHABLE.has(error.errno)) {
      return { code: error.code };
    }
    throw error;
  }
}

/** Not for blackhole and its kin, nor while every link of it is down. */
export function leadsSomewhere({ type, hops }: Pick<MachineRoute, 'type' | 'hops'>): boolean {
  const isDeadEnd = ['blackhole', 'unreachable', 'prohibit', 'throw', 'other'].includes(type);
  return !isDeadEnd && hops.some(({ alive }) => alive);
}
