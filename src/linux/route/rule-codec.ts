import {
  type Attributes,
  type NetlinkMessage,
  numberOf,
  readAttributes,
  textOf,
} from '../netlink/reader.ts';
import { AF_INET, AF_INET6, RTM_NEWRULE, RULE_FIXED_BYTES } from './route-protocol.ts';

export const FRA_IIFNAME = 3;
export const FRA_PRIORITY = 6;
export const FRA_FWMARK = 10;
const FRA_TUN_ID = 12;
const FRA_SUPPRESS_PREFIXLEN = 14;
export const FRA_TABLE = 15;
export const FRA_FWMASK = 16;
const FRA_OIFNAME = 17;
const FRA_L3MDEV = 19;
const FRA_UID_RANGE = 20;
export const FRA_PROTOCOL = 21;
const FRA_IP_PROTO = 22;
const FRA_SPORT_RANGE = 23;
const FRA_DPORT_RANGE = 24;
export const FR_ACT_TO_TBL = 1;
const FIB_RULE_INVERT = 0x2;
const NO_LIMIT = 0xffff_ffff;
/** What a plain packet of a process may differ in: a rule with one of these is not for every packet. */
const SELECTORS = [
  FRA_OIFNAME,
  FRA_TUN_ID,
  FRA_L3MDEV,
  FRA_UID_RANGE,
  FRA_IP_PROTO,
  FRA_SPORT_RANGE,
  FRA_DPORT_RANGE,
];

/** A rule that sends every packet of own sockets, unless marked, to a table. */
export interface TableRule {
  readonly family: 'IPv4' | 'IPv6';
  readonly table: number;
  /** Routes with a prefix of at most this length are passed over; undefined: none. */
  readonly suppressedPrefixLength: number | undefined;
}

/** Undefined: not such a rule. */
export function readTableRule({ type, body }: NetlinkMessage): TableRule | undefined {
  if (type !== RTM_NEWRULE || body.length < RULE_FIXED_BYTES) return undefined;
  const family = familyOf(body.readUInt8(0));
  if (family === undefined || body.readUInt8(7) !== FR_ACT_TO_TBL) return undefined;
  const attributes = readAttributes(body.subarray(RULE_FIXED_BYTES));
  const isInverted = (body.readUInt32LE(8) & FIB_RULE_INVERT) !== 0;
  const [toLength, fromLength, typeOfService] = [body[1], body[2], body[3]];
  if (toLength !== 0 || fromLength !== 0 || typeOfService !== 0) return undefined;
  if (SELECTORS.some((each) => attributes.has(each)) || !isOfOwnSockets(attributes))
    return undefined;
  // What WireGuard sets up: `not from all fwmark 0xca6c`, so that its own packets go elsewhere.
  if (matchesUnmarked(attributes) === isInverted) return undefined;
  const suppressed = numberOf(attributes.get(FRA_SUPPRESS_PREFIXLEN)) ?? NO_LIMIT;
  return {
    family,
    table: numberOf(attributes.get(FRA_TABLE)) ?? body.readUInt8(4),
    suppressedPrefixLength: suppressed === NO_LIMIT ? undefined : suppressed,
  };
}

/** Packets of own sockets come in by loopback, for a rule. */
function isOfOwnSockets(attributes: Attributes): boolean {
  const name = attributes.get(FRA_IIFNAME);
  return name === undefined || textOf(name) === 'lo';
}

function matchesUnmarked(attributes: Attributes): boolean {
  const mark = numberOf(attributes.get(FRA_FWMARK)) ?? 0;
  const mask = numberOf(attributes.get(FRA_FWMASK)) ?? (mark === 0 ? 0 : NO_LIMIT);
  return (mark & mask) === 0;
}

function familyOf(number: number): TableRule['family'] | undefined {
  if (number === AF_INET) return 'IPv4';
  return number === AF_INET6 ? 'IPv6' : undefined;
}
