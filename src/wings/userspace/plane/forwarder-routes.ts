import { constants } from 'node:os';
import { type Cidr, parseCidr } from '../../../addresses/cidr.ts';
import type { Holding } from '../../../dataplanes/contract.ts';
import { FORWARDER_ADDRESSES } from '../../../dataplanes/shared/forwarder-addresses.ts';
import { FAMILIES, type Family } from '../../../forwarding/model.ts';
import { NetlinkError } from '../../../linux/netlink/netlink-error.ts';
import { addRoute, deleteRoute, selectRoutes } from '../../../linux/route/machine-routes.ts';
import {
  addMarkRule,
  countRules,
  deleteMarkRule,
  type MarkRule,
} from '../../../linux/route/mark-rules.ts';
import { type RouteSpec, RT_TABLE_LOCAL } from '../../../linux/route/route-requests.ts';

/**
 * Routes and rules that the forwarder needs:
 *
 *   local 169.254.118.118 dev lo table local     where it listens
 *   fwmark 0x2000/0x2000 lookup 118              answers to sockets that are bound to a client's
 *   local default dev lo table 118               address, which is not one of this machine
 *
 * Their protocol is not the one of routes to Service ranges: those are compared with what is wanted,
 * in all tables, and others of the same protocol are deleted.
 */
const PROTOCOL = 119;
const LOOPBACK_INDEX = 1;
const RETURN_TABLE = 118;
const RETURN_PRIORITY = 118;

const { EACCES, EAFNOSUPPORT, EOPNOTSUPP } = constants.errno;
/** What a kernel without IPv6 answers, or one where it is disabled. */
const NO_FAMILY: ReadonlySet<number> = new Set([EACCES, EAFNOSUPPORT, EOPNOTSUPP]);

/** Whether it is there now, by family; IPv6 may be disabled. */
export type InFamilies = Readonly<Record<Family, boolean>>;

/** Makes the addresses of the forwarder local. Cheap where they are, so call it often. */
export async function keepListenerRoutes(): Promise<InFamilies> {
  return await inFamilies((family) => addRoute(listenerRoute(family)));
}

export async function deleteListenerRoutes(): Promise<void> {
  await inFamilies((family) => deleteRoute(listenerRoute(family)));
}

/** Delivers packets with the mark to sockets of this machine, whatever their destination. */
export async function keepReturnRoutes(mark: number): Promise<InFamilies> {
  return await inFamilies(async (family) => {
    await addRoute(returnRoute(family));
    await addMarkRule(returnRule(family, mark));
  });
}

export async function deleteReturnRoutes(mark: number): Promise<void> {
  await inFamilies(async (family) => {
    await deleteMarkRule(returnRule(family, mark));
    await deleteRoute(returnRoute(family));
  });
}

/** All that the functions above have made, also for a forwarder that is gone. */
export async function routeHoldings(): Promise<readonly Holding[]> {
  const routes = await selectRoutes(
    FAMILIES,
    () =>
      ({ protocol }) =>
        protocol === PROTOCOL,
  );
  const holdings: readonly Holding[] = [
    { what: 'routes', count: routes.length },
    { what: 'routing rules', count: await countRules(PROTOCOL) },
  ];
  return holdings.filter(({ count }) => count > 0);
}

async function inFamilies(act: (family: Family) => Promise<unknown>): Promise<InFamilies> {
  const done = { IPv4: false, IPv6: false };
  for (const family of FAMILIES) {
    try {
      await act(family);
      done[family] = true;
    } catch (error) {
      const isAbsent = error instanceof NetlinkError && NO_FAMILY.has(error.errno);
      if (family === 'IPv4' || !isAbsent) throw error;
    }
  }
  return done;
}

function listenerRoute(family: Family): RouteSpec {
  const length = family === 'IPv4' ? 32 : 128;
  return localRoute(`${FORWARDER_ADDRESSES[family]}/${length}`, RT_TABLE_LOCAL);
}

function returnRoute(family: Family): RouteSpec {
  return localRoute(family === 'IPv4' ? '0.0.0.0/0' : '::/0', RETURN_TABLE);
}

function returnRule(family: Family, mark: number): MarkRule {
  const [priority, table] = [RETURN_PRIORITY, RETURN_TABLE];
  return { family, mark, priority, table, protocol: PROTOCOL };
}

function localRoute(to: string, table: number): RouteSpec {
  return {
    to: parseCidr(to) as Cidr,
    linkIndex: LOOPBACK_INDEX,
    protocol: PROTOCOL,
    metric: 0,
    type: 'local',
    table,
  };
}
