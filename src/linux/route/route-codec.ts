import type { Cidr } from '../../addresses/cidr.ts';
import { formatIp } from '../../addresses/ip.ts';
import {
  type Attributes,
  type NetlinkMessage,
  numberOf,
  readAttributes,
} from '../netlink/reader.ts';
import {
  AF_INET,
  AF_INET6,
  ROUTE_FIXED_BYTES,
  RTM_DELROUTE,
  RTM_NEWROUTE,
} from './route-protocol.ts';

export const RTA_DST = 1;
export const RTA_OIF = 4;
export const RTA_GATEWAY = 5;
export const RTA_PRIORITY = 6;
export const RTA_PREFSRC = 7;
export const RTA_METRICS = 8;
const RTA_MULTIPATH = 9;
export const RTA_TABLE = 15;
const RTA_VIA = 18;
export const RTAX_MTU = 2;
const HOP_FIXED_BYTES = 8;
/** The link of the hop is down: the kernel passes it over. */
const RTNH_F_DEAD = 1;

/** Numbers of `rtm_type`. Those from `blackhole` on answer a packet with an error or nothing. */
const TYPES = [
  'other',
  'unicast',
  'local',
  'broadcast',
  'anycast',
  'multicast',
  'blackhole',
  'unreachable',
  'prohibit',
  'throw',
] as const;

export type RouteType = (typeof TYPES)[number];

/** One of the ways that a route leads. */
export interface RouteHop {
  readonly linkIndex: number;
  /** Undefined: the destination is a neighbour on the link. */
  readonly gateway: string | undefined;
  /** False while the link is down. */
  readonly alive: boolean;
}

export interface MachineRoute {
  readonly family: 'IPv4' | 'IPv6';
  /** The destination as a range; a default route is `0.0.0.0/0` or `::/0`. */
  readonly to: Cidr;
  readonly table: number;
  /** Who made it: a number of rt_protos. */
  readonly protocol: number;
  readonly type: RouteType;
  /** Of two routes to one range the one with the smaller metric is used. */
  readonly metric: number;
  /** The largest packet that it takes, in bytes; undefined: that of the link. */
  readonly mtu: number | undefined;
  /** The source address that the route sets. */
  readonly source: string | undefined;
  /** Only for packets of some source addresses or with a type of service. */
  readonly isConditional: boolean;
  /** None for types that lead nowhere. */
  readonly hops: readonly RouteHop[];
}

export interface RouteEvent {
  readonly route: MachineRoute;
  readonly removed: boolean;
}

export function typeNumber(type: RouteType): number {
  return TYPES.indexOf(type);
}

/** Undefined: not about a route of IP, or not readable. */
export function readRouteEvent(message: NetlinkMessage): RouteEvent | undefined {
  const { type, body } = message;
  if (type !== RTM_NEWROUTE && type !== RTM_DELROUTE) return undefined;
  if (body.length < ROUTE_FIXED_BYTES) return undefined;
  const family = familyOf(body.readUInt8(0));
  if (family === undefined) return undefined;
  const attributes = readAttributes(body.subarray(ROUTE_FIXED_BYTES));
  const to = destination(family, { prefixLength: body.readUInt8(1), attributes });
  if (to === undefined) return undefined;
  const route = {
    family,
    to,
    // The byte in the fixed part has no room for larger numbers.
    table: numberOf(attributes.get(RTA_TABLE)) ?? body.readUInt8(4),
    protocol: body.readUInt8(5),
    type: TYPES[body.readUInt8(7)] ?? 'other',
    metric: numberOf(attributes.get(RTA_PRIORITY)) ?? 0,
    mtu: mtuOf(attributes),
    source: addressOf(attributes.get(RTA_PREFSRC)),
    isConditional: body.readUInt8(2) !== 0 || body.readUInt8(3) !== 0,
    hops: hopsOf(attributes, body.readUInt32LE(8)),
  };
  return { route, removed: type === RTM_DELROUTE };
}

function mtuOf(attributes: Attributes): number | undefined {
  const metrics = attributes.get(RTA_METRICS);
  return metrics === undefined ? undefined : numberOf(readAttributes(metrics).get(RTAX_MTU));
}

function familyOf(number: number): MachineRoute['family'] | undefined {
  if (number === AF_INET) return 'IPv4';
  return number === AF_INET6 ? 'IPv6' : undefined;
}

function destination(
  family: MachineRoute['family'],
  route: { readonly prefixLength: number; readonly attributes: Attributes },
): Cidr | undefined {
  const size = family === 'IPv4' ? 4 : 16;
  const version = family === 'IPv4' ? 4 : 6;
  // A default route has no destination.
  const bytes = route.attributes.get(RTA_DST) ?? Buffer.alloc(size);
  if (bytes.length !== size || route.prefixLength > size * 8) return undefined;
  return { base: { version, bytes: new Uint8Array(bytes) }, prefixLength: route.prefixLength };
}

function hopsOf(attributes: Attributes, flags: number): RouteHop[] {
  const several = attributes.get(RTA_MULTIPATH);
  if (several !== undefined) return hopsOfMultipath(several);
  const linkIndex = numberOf(attributes.get(RTA_OIF));
  if (linkIndex === undefined) return [];
  return [{ linkIndex, gateway: gatewayOf(attributes), alive: (flags & RTNH_F_DEAD) === 0 }];
}

/** An array of rtnexthop: length, flags, hops, index, then attributes. */
function hopsOfMultipath(bytes: Buffer): RouteHop[] {
  const hops: RouteHop[] = [];
  for (let at = 0; at + HOP_FIXED_BYTES <= bytes.length; ) {
    const length = bytes.readUInt16LE(at);
    if (length < HOP_FIXED_BYTES || at + length > bytes.length) break;
    const attributes = readAttributes(bytes.subarray(at + HOP_FIXED_BYTES, at + length));
    const alive = (bytes.readUInt8(at + 2) & RTNH_F_DEAD) === 0;
    const linkIndex = bytes.readInt32LE(at + 4);
    hops.push({ linkIndex, gateway: gatewayOf(attributes), alive });
    at += (length + 3) & ~3;
  }
  return hops;
}

/** RTA_VIA is a gateway of the other family: two bytes for the family, then the address. */
function gatewayOf(attributes: Attributes): string | undefined {
  return addressOf(attributes.get(RTA_GATEWAY)) ?? addressOf(attributes.get(RTA_VIA)?.subarray(2));
}

function addressOf(bytes: Buffer | undefined): string | undefined {
  if (bytes?.length === 4) return formatIp({ version: 4, bytes: new Uint8Array(bytes) });
  if (bytes?.length === 16) return formatIp({ version: 6, bytes: new Uint8Array(bytes) });
  return undefined;
}
