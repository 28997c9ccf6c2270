import type { Cidr } from '../../addresses/cidr.ts';
import { type IpAddress, parseIp } from '../../addresses/ip.ts';
import { NetlinkWriter } from '../netlink/netlink-writer.ts';
import {
  type RouteType,
  RTA_DST,
  RTA_GATEWAY,
  RTA_METRICS,
  RTA_OIF,
  RTA_PREFSRC,
  RTA_PRIORITY,
  RTA_TABLE,
  RTAX_MTU,
  typeNumber,
} from './route-codec.ts';
import {
  AF_INET,
  AF_INET6,
  type DumpQuestion,
  NLM_F_ACK,
  NLM_F_CREATE,
  NLM_F_DUMP,
  NLM_F_EXCL,
  NLM_F_REPLACE,
  NLM_F_REQUEST,
  ROUTE_FIXED_BYTES,
  RTM_DELROUTE,
  RTM_GETROUTE,
  RTM_NEWROUTE,
} from './route-protocol.ts';

export const RT_TABLE_MAIN = 254;
export const RT_TABLE_LOCAL = 255;
const RTA_SRC = 2;
const RTA_IIF = 3;
/** `rtm_src_len` in struct rtmsg. */
const SOURCE_LENGTH_AT = 2;
const RT_TABLE_UNSPEC = 0;
const RT_SCOPE_UNIVERSE = 0;
const RT_SCOPE_LINK = 253;
const RT_SCOPE_HOST = 254;
const RT_SCOPE_NOWHERE = 255;
/** The answer names the table that the lookup ended in. */
const RTM_F_LOOKUP_TABLE = 0x1000;
/** The answer is the entry of the table instead of the path made from it. */
const RTM_F_FIB_MATCH = 0x2000;

/** A route to add or to delete. */
export interface RouteSpec {
  readonly to: Cidr;
  readonly linkIndex: number;
  readonly protocol: number;
  readonly metric: number;
  readonly type?: RouteType;
  /** The main table if absent. */
  readonly table?: number;
  readonly gateway?: string;
  readonly source?: string;
  /** The largest packet, in bytes; that of the link if absent. */
  readonly mtu?: number;
  /** The scope of a route by a gateway, although there is none. */
  readonly isUniversal?: true;
}

export function routesQuestion(family: 'IPv4' | 'IPv6', sequence: number): DumpQuestion {
  const writer = new NetlinkWriter();
  const flags = NLM_F_REQUEST | NLM_F_DUMP;
  const message = writer.beginMessage({ type: RTM_GETROUTE, flags, sequence });
  writer.raw(fixed({ family: family === 'IPv4' ? AF_INET : AF_INET6 }));
  writer.endMessage(message);
  return { bytes: writer.bytes, what: `list ${family} routes` };
}

/** `match`: the entry of the routing table; `path`: the resolved link, gateway and source. */
export function lookupQuestion(
  address: IpAddress,
  asked: { readonly answer: 'match' | 'path'; readonly sequence: number },
): DumpQuestion {
  const writer = new NetlinkWriter();
  const flags = NLM_F_REQUEST | NLM_F_ACK;
  const message = writer.beginMessage({ type: RTM_GETROUTE, flags, sequence: asked.sequence });
  writer.raw(
    fixed({
      family: familyNumber(address),
      prefixLength: address.bytes.length * 8,
      flags: asked.answer === 'match' ? RTM_F_FIB_MATCH : RTM_F_LOOKUP_TABLE,
    }),
  );
  writer.bytesOf(RTA_DST, address.bytes);
  writer.endMessage(message);
  return { bytes: writer.bytes, what: 'look up a route' };
}

/** As if a packet came in by a link: the kernel validates its source, and looks up its route. */
export function arrivalQuestion(
  packet: { readonly from: IpAddress; readonly to: IpAddress; readonly linkIndex: number },
  sequence: number,
): DumpQuestion {
  const writer = new NetlinkWriter();
  const flags = NLM_F_REQUEST | NLM_F_ACK;
  const message = writer.beginMessage({ type: RTM_GETROUTE, flags, sequence });
  const bits = packet.to.bytes.length * 8;
  const bytes = fixed({ family: familyNumber(packet.to), prefixLength: bits });
  bytes[SOURCE_LENGTH_AT] = bits;
  writer.raw(bytes);
  writer.bytesOf(RTA_DST, packet.to.bytes);
  writer.bytesOf(RTA_SRC, packet.from.bytes);
  writer.u32le(RTA_IIF, packet.linkIndex);
  writer.endMessage(message);
  return { bytes: writer.bytes, what: 'ask for the route of a packet that comes in' };
}

const CHANGE_FLAGS = {
  add: NLM_F_CREATE | NLM_F_EXCL,
  replace: NLM_F_CREATE | NLM_F_REPLACE,
  delete: 0,
} as const;

/**
 * Adding fails with EEXIST if there is a route with the same range, table and metric; replacing puts
 * the new one in its place at once.
 */
export function routeRequest(
  verb: keyof typeof CHANGE_FLAGS,
  route: RouteSpec,
  sequence: number,
): DumpQuestion {
  const writer = new NetlinkWriter();
  const isNew = verb !== 'delete';
  const flags = NLM_F_REQUEST | NLM_F_ACK | CHANGE_FLAGS[verb];
  const type = isNew ? RTM_NEWROUTE : RTM_DELROUTE;
  const message = writer.beginMessage({ type, flags, sequence });
  const table = route.table ?? RT_TABLE_MAIN;
  writer.raw(
    fixed({
      family: familyNumber(route.to.base),
      prefixLength: route.to.prefixLength,
      table: table < 256 ? table : RT_TABLE_UNSPEC,
      protocol: route.protocol,
      scope: isNew ? scopeFor(route) : RT_SCOPE_NOWHERE,
      type: typeNumber(route.type ?? 'unicast'),
    }),
  );
  writer.bytesOf(RTA_DST, route.to.base.bytes);
  writer.u32le(RTA_TABLE, table);
  writer.u32le(RTA_OIF, route.linkIndex);
  writer.u32le(RTA_PRIORITY, route.metric);
  if (route.mtu !== undefined) {
    const metrics = writer.beginNested(RTA_METRICS);
    writer.u32le(RTAX_MTU, route.mtu);
    writer.endNested(metrics);
  }
  for (const [attribute, text] of [
    [RTA_GATEWAY, route.gateway],
    [RTA_PREFSRC, route.source],
  ] as const) {
    const address = text === undefined ? undefined : parseIp(text);
    if (address !== undefined) writer.bytesOf(attribute, address.bytes);
  }
  writer.endMessage(message);
  return { bytes: writer.bytes, what: `${verb} a route` };
}

/** What `ip route add` chooses: a destination on the link itself has the scope of the link. */
function scopeFor(route: RouteSpec): number {
  if (route.gateway !== undefined || route.isUniversal) return RT_SCOPE_UNIVERSE;
  if (route.type === 'local') return RT_SCOPE_HOST;
  return (route.type ?? 'unicast') === 'unicast' ? RT_SCOPE_LINK : RT_SCOPE_UNIVERSE;
}

function familyNumber(address: IpAddress): number {
  return address.version === 4 ? AF_INET : AF_INET6;
}

interface Fixed {
  readonly family: number;
  readonly prefixLength?: number;
  readonly table?: number;
  readonly protocol?: number;
  readonly scope?: number;
  readonly type?: number;
  readonly flags?: number;
}

function fixed(header: Fixed): Buffer {
  const bytes = Buffer.alloc(ROUTE_FIXED_BYTES);
  bytes[0] = header.family;
  bytes[1] = header.prefixLength ?? 0;
  bytes[4] = header.table ?? RT_TABLE_UNSPEC;
  bytes[5] = header.protocol ?? 0;
  bytes[6] = header.scope ?? 0;
  bytes[7] = header.type ?? 0;
  bytes.writeUInt32LE(header.flags ?? 0, 8);
  return bytes;
}
