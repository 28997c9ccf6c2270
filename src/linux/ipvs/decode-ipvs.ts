import { GENL_HEADER_BYTES } from '../netlink/generic-family.ts';
import {
  type Attributes,
  findAttribute,
  numberOf,
  readAttributes,
  textOf,
} from '../netlink/reader.ts';
import { addressText } from './address.ts';
import type {
  DestinationCount,
  DestinationState,
  IpvsProtocol,
  IpvsTimeouts,
  VirtualServer,
} from './ipvs-model.ts';
import * as ipvs from './ipvs-protocol.ts';
import { flagNames } from './service-flags.ts';

const PROTOCOL_NAMES: ReadonlyMap<number, IpvsProtocol> = new Map(
  (['TCP', 'UDP', 'SCTP'] as const).map((name) => [ipvs.PROTOCOL_NUMBERS[name], name]),
);
/** By the number of the forwarding method. */
const FORWARDING = [undefined, 'local', 'tunnel', 'route'] as const;
const WHOLE_IPV4_MASK = 0xffffffff;
const WHOLE_IPV6_PREFIX = 128;

/** Undefined: a virtual server for a packet mark, or of another protocol. */
export function decodeServer(body: Buffer): VirtualServer | undefined {
  const nest = findAttribute(body.subarray(GENL_HEADER_BYTES), ipvs.ATTR_SERVICE);
  if (nest === undefined) return undefined;
  const attributes = readAttributes(nest);
  const family = u16(attributes.get(ipvs.SVC_AF));
  const address = attributes.get(ipvs.SVC_ADDR);
  const protocol = PROTOCOL_NAMES.get(u16(attributes.get(ipvs.SVC_PROTOCOL)));
  if (attributes.has(ipvs.SVC_FWMARK) || address === undefined || protocol === undefined) {
    return undefined;
  }
  const scheduler = textOf(attributes.get(ipvs.SVC_SCHED_NAME));
  const flags = numberOf(attributes.get(ipvs.SVC_FLAGS)) ?? 0;
  const isPersistent = (flags & ipvs.SVC_F_PERSISTENT) !== 0;
  return {
    protocol,
    address: addressText(family, address),
    port: portOf(attributes.get(ipvs.SVC_PORT)),
    scheduler,
    schedulerFlags: [
      ...flagNames(scheduler, flags),
      ...neverWritten(attributes, { family, isPersistent }),
    ].sort(),
    persistenceSeconds: isPersistent ? (numberOf(attributes.get(ipvs.SVC_TIMEOUT)) ?? 0) : 0,
  };
}

/** Settings of another process, under names that no scheduler flag has. */
function neverWritten(
  attributes: Attributes,
  server: { readonly family: number; readonly isPersistent: boolean },
): string[] {
  const found: string[] = [];
  if (attributes.has(ipvs.SVC_PE_NAME)) found.push('pe');
  const mask = numberOf(attributes.get(ipvs.SVC_NETMASK));
  if (!server.isPersistent || mask === undefined) return found;
  if (mask !== (server.family === ipvs.AF_INET ? WHOLE_IPV4_MASK : WHOLE_IPV6_PREFIX))
    found.push('netmask');
  return found;
}

/** The family is that of the virtual server, for kernels that leave it out. */
export function decodeDestination(
  body: Buffer,
  serverFamily: number,
): (DestinationState & DestinationCount) | undefined {
  const nest = findAttribute(body.subarray(GENL_HEADER_BYTES), ipvs.ATTR_DEST);
  if (nest === undefined) return undefined;
  const attributes = readAttributes(nest);
  const address = attributes.get(ipvs.DEST_ADDR);
  if (address === undefined) return undefined;
  const family = attributes.get(ipvs.DEST_ADDR_FAMILY);
  const number = (attribute: number) => numberOf(attributes.get(attribute)) ?? 0;
  const forwarding = FORWARDING[number(ipvs.DEST_FWD_METHOD)];
  return {
    address: addressText(family === undefined ? serverFamily : u16(family), address),
    port: portOf(attributes.get(ipvs.DEST_PORT)),
    weight: number(ipvs.DEST_WEIGHT),
    activeConnections: number(ipvs.DEST_ACTIVE_CONNS),
    inactiveConnections: number(ipvs.DEST_INACT_CONNS),
    persistentConnections: number(ipvs.DEST_PERSIST_CONNS),
    ...(forwarding === undefined ? {} : { forwarding }),
    ...decodeCounts(attributes.get(ipvs.DEST_STATS64)),
  };
}

function decodeCounts(nest: Buffer | undefined): Omit<DestinationCount, 'persistentConnections'> {
  const attributes = nest && readAttributes(nest);
  const count = (attribute: number) => {
    const value = attributes?.get(attribute);
    return value === undefined || value.length < 8 ? 0 : Number(value.readBigUInt64LE(0));
  };
  return {
    connections: count(ipvs.STATS_CONNS),
    packetsIn: count(ipvs.STATS_INPKTS),
    packetsOut: count(ipvs.STATS_OUTPKTS),
    bytesIn: count(ipvs.STATS_INBYTES),
    bytesOut: count(ipvs.STATS_OUTBYTES),
  };
}

export function decodeTimeouts(body: Buffer): IpvsTimeouts {
  const attributes = readAttributes(body.subarray(GENL_HEADER_BYTES));
  const seconds = (attribute: number) => numberOf(attributes.get(attribute)) ?? 0;
  return {
    tcpSeconds: seconds(ipvs.ATTR_TIMEOUT_TCP),
    tcpFinSeconds: seconds(ipvs.ATTR_TIMEOUT_TCP_FIN),
    udpSeconds: seconds(ipvs.ATTR_TIMEOUT_UDP),
  };
}

/** In the byte order of the machine. */
function u16(value: Buffer | undefined): number {
  return value === undefined || value.length < 2 ? 0 : value.readUInt16LE(0);
}

function portOf(value: Buffer | undefined): number {
  return value === undefined || value.length < 2 ? 0 : value.readUInt16BE(0);
}
