import { constants } from 'node:os';
import { type Cidr, parseCidr } from '../../../../addresses/cidr.ts';
import { markText } from '../../../../dataplanes/shared/nft/element-text.ts';
import { FAMILIES, type Family } from '../../../../forwarding/model.ts';
import { NetlinkError } from '../../../../linux/netlink/netlink-error.ts';
import { addRoute, deleteRoute, selectRoutes } from '../../../../linux/route/machine-routes.ts';
import {
  addMarkRule,
  deleteMarkRule,
  listMarkRules,
  type MarkRule,
} from '../../../../linux/route/mark-rules.ts';
import type { MachineRoute } from '../../../../linux/route/route-codec.ts';
import type { RouteSpec } from '../../../../linux/route/route-requests.ts';

/**
 * IPVS works on packets for this node only, and on all that own sockets send. In both families:
 *
 *   119: fwmark 0x1000/0x1000 iif lo lookup main
 *   120: fwmark 0x1000/0x1000 lookup 120
 *   local default dev lo table 120
 *
 * The first one keeps packets of own sockets from the route to this node: about one with that route the
 * kernel sends ICMP errors from the Service address, and none, because the node does not have it.
 *
 * The numbers beside 118 and 119 are of routes to Service ranges and of the forwarder.
 */
export const CAPTURE_PROTOCOL = 121;
export const CAPTURE_TABLE = 120;
const PRIORITY = 120;
const OWN_PRIORITY = PRIORITY - 1;
const MAIN_TABLE = 254;
const LOOPBACK = 'lo';
const LOOPBACK_INDEX = 1;

const { EACCES, EAFNOSUPPORT, EOPNOTSUPP } = constants.errno;
/** What a kernel without IPv6 answers, or one where it is disabled. */
const NO_FAMILY: ReadonlySet<number> = new Set([EACCES, EAFNOSUPPORT, EOPNOTSUPP]);

/** What is there of ours. */
export interface FoundRouting {
  readonly rules: readonly MarkRule[];
  readonly routes: readonly MachineRoute[];
}

export async function readRouting(): Promise<FoundRouting> {
  const sieve =
    () =>
    ({ table, protocol }: MachineRoute) =>
      table === CAPTURE_TABLE && protocol === CAPTURE_PROTOCOL;
  return {
    rules: await listMarkRules(CAPTURE_PROTOCOL),
    routes: await selectRoutes(FAMILIES, sieve),
  };
}

/** Of rules of ours. */
export async function marksInUse(): Promise<readonly number[]> {
  return (await listMarkRules(CAPTURE_PROTOCOL)).map(({ mark }) => mark);
}

/** `own-rule`: for packets of own sockets. */
type RoutingPart = 'route' | 'own-rule' | 'rule';

/** Parts that are missing in a family. */
export function missingRouting(
  found: FoundRouting,
  mark: number,
): readonly { readonly family: Family; readonly what: RoutingPart }[] {
  return FAMILIES.flatMap((family) => {
    const isThere: Readonly<Record<RoutingPart, boolean>> = {
      route: found.routes.some((route) => isCaptureRoute(route, family)),
      'own-rule': found.rules.some((rule) => isSameRule(rule, ownRule(family, mark))),
      rule: found.rules.some((rule) => isSameRule(rule, captureRule(family, mark))),
    };
    const parts = Object.keys(isThere) as RoutingPart[];
    return parts.filter((what) => !isThere[what]).map((what) => ({ family, what }));
  });
}

/** Rules of ours with another mark or table. */
export function foreignRules({ rules }: FoundRouting, mark: number): readonly MarkRule[] {
  return rules.filter(
    (rule) =>
      !isSameRule(rule, captureRule(rule.family, mark)) &&
      !isSameRule(rule, ownRule(rule.family, mark)),
  );
}

/** Adds what is missing. Returns the number of writes. */
export async function addRouting(found: FoundRouting, mark: number): Promise<number> {
  let writeCount = 0;
  for (const { family, what } of missingRouting(found, mark)) {
    if (await add(family, what, mark)) writeCount += 1;
  }
  return writeCount;
}

/** Deletes what is ours and not wanted. Returns the number of writes. */
export async function deleteForeignRules(found: FoundRouting, mark: number): Promise<number> {
  let writeCount = 0;
  for (const rule of foreignRules(found, mark)) {
    if (await deleteMarkRule(rule)) writeCount += 1;
  }
  return writeCount;
}

export async function deleteRouting({ rules, routes }: FoundRouting): Promise<void> {
  for (const rule of rules) await deleteMarkRule(rule);
  for (const { family } of routes) await deleteRoute(captureRoute(family));
}

/** `ip rule fwmark 0x00001000 lookup 120`. */
export function routingText(family: Family, what: RoutingPart, mark: number): string {
  const ip = family === 'IPv4' ? 'ip' : 'ip -6';
  const selector = `rule fwmark ${markText(mark)}/${markText(mark)}`;
  switch (what) {
    case 'route':
      return `${ip} route local default dev lo table ${CAPTURE_TABLE}`;
    case 'own-rule':
      return `${ip} ${selector} iif ${LOOPBACK} lookup main`;
    case 'rule':
      return `${ip} ${selector} lookup ${CAPTURE_TABLE}`;
  }
}

function isCaptureRoute(route: MachineRoute, family: Family): boolean {
  return (
    route.family === family &&
    route.table === CAPTURE_TABLE &&
    route.protocol === CAPTURE_PROTOCOL &&
    route.type === 'local' &&
    route.to.prefixLength === 0
  );
}

/** False: there already, or IPv6 is disabled. */
async function add(family: Family, what: RoutingPart, mark: number): Promise<boolean> {
  try {
    if (what === 'route') return await addRoute(captureRoute(family));
    const ruleOf = what === 'rule' ? captureRule : ownRule;
    return await addMarkRule(ruleOf(family, mark));
  } catch (error) {
    const isAbsent = error instanceof NetlinkError && NO_FAMILY.has(error.errno);
    if (family === 'IPv4' || !isAbsent) throw error;
    return false;
  }
}

function isSameRule(a: MarkRule, b: MarkRule): boolean {
  return (
    a.family === b.family &&
    a.mark === b.mark &&
    a.priority === b.priority &&
    a.table === b.table &&
    a.protocol === b.protocol &&
    a.inInterface === b.inInterface
  );
}

function captureRule(family: Family, mark: number): MarkRule {
  const [priority, table] = [PRIORITY, CAPTURE_TABLE];
  return { family, mark, priority, table, protocol: CAPTURE_PROTOCOL };
}

function ownRule(family: Family, mark: number): MarkRule {
  const [priority, table] = [OWN_PRIORITY, MAIN_TABLE];
  return { family, mark, priority, table, protocol: CAPTURE_PROTOCOL, inInterface: LOOPBACK };
}

function captureRoute(family: Family): RouteSpec {
  return {
    to: parseCidr(family === 'IPv4' ? '0.0.0.0/0' : '::/0') as Cidr,
    linkIndex: LOOPBACK_INDEX,
    protocol: CAPTURE_PROTOCOL,
    metric: 0,
    type: 'local',
    table: CAPTURE_TABLE,
  };
}
