import { constants } from 'node:os';
import { type Cidr, parseCidr } from '../../../addresses/cidr.ts';
import { FAMILIES, type Family } from '../../../forwarding/model.ts';
import { NetlinkError } from '../../../linux/netlink/errors.ts';
import {
  addMarkRule,
  deleteMarkRule,
  listMarkRules,
  type MarkRule,
} from '../../../linux/route/mark-rules.ts';
import type { MachineRoute } from '../../../linux/route/route-codec.ts';
import type { RouteSpec } from '../../../linux/route/route-requests.ts';
import { addRoute, deleteRoute, selectRoutes } from '../../../linux/route/routes.ts';
import { markText } from '../../shared/nft/element-text.ts';

/**
 * IPVS works on packets for this node only. In both families:
 *
 *   fwmark 0x1000/0x1000 lookup 120
 *   local default dev lo table 120
 *
 * The numbers beside 118 and 119 are of routes to Service ranges and of the forwarder.
 */
export const CAPTURE_PROTOCOL = 121;
export const CAPTURE_TABLE = 120;
const PRIORITY = 120;
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

/** Parts that are missing in a family. */
export function missingRouting(
  found: FoundRouting,
  mark: number,
): readonly { readonly family: Family; readonly what: 'rule' | 'route' }[] {
  return FAMILIES.flatMap((family) => [
    ...(found.routes.some((route) => isCaptureRoute(route, family))
      ? []
      : [{ family, what: 'route' as const }]),
    ...(found.rules.some((rule) => isSameRule(rule, captureRule(family, mark)))
      ? []
      : [{ family, what: 'rule' as const }]),
  ]);
}

/** Rules of ours with another mark or table. */
export function foreignRules({ rules }: FoundRouting, mark: number): readonly MarkRule[] {
  return rules.filter((rule) => !isSameRule(rule, captureRule(rule.family, mark)));
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
export function routingText(family: Family, what: 'rule' | 'route', mark: number): string {
  const ip = family === 'IPv4' ? 'ip' : 'ip -6';
  const text = markText(mark);
  return what === 'rule'
    ? `${ip} rule fwmark ${text}/${text} lookup ${CAPTURE_TABLE}`
    : `${ip} route local default dev lo table ${CAPTURE_TABLE}`;
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
async function add(family: Family, what: 'rule' | 'route', mark: number): Promise<boolean> {
  try {
    if (what === 'rule') return await addMarkRule(captureRule(family, mark));
    return await addRoute(captureRoute(family));
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
    a.protocol === b.protocol
  );
}

function captureRule(family: Family, mark: number): MarkRule {
  const [priority, table] = [PRIORITY, CAPTURE_TABLE];
  return { family, mark, priority, table, protocol: CAPTURE_PROTOCOL };
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
