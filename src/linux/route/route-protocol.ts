import { NetlinkWriter } from '../netlink/netlink-writer.ts';

export const NETLINK_ROUTE = 0;

export const RTM_NEWLINK = 16;
export const RTM_DELLINK = 17;
const RTM_GETLINK = 18;
export const RTM_NEWADDR = 20;
export const RTM_DELADDR = 21;
const RTM_GETADDR = 22;
export const RTM_NEWROUTE = 24;
export const RTM_DELROUTE = 25;
export const RTM_GETROUTE = 26;
export const RTM_NEWRULE = 32;
export const RTM_DELRULE = 33;
const RTM_GETRULE = 34;

export const RTNLGRP_LINK = 1;
export const RTNLGRP_IPV4_IFADDR = 5;
export const RTNLGRP_IPV4_ROUTE = 7;
export const RTNLGRP_IPV4_RULE = 8;
export const RTNLGRP_IPV6_IFADDR = 9;
export const RTNLGRP_IPV6_ROUTE = 11;
export const RTNLGRP_IPV6_RULE = 19;

export const AF_UNSPEC = 0;
export const AF_INET = 2;
export const AF_INET6 = 10;
export const LINK_FIXED_BYTES = 16;
export const ADDRESS_FIXED_BYTES = 8;
export const ROUTE_FIXED_BYTES = 12;
export const RULE_FIXED_BYTES = 12;

export const NLM_F_REQUEST = 0x1;
export const NLM_F_ACK = 0x4;
export const NLM_F_DUMP = 0x300;
export const NLM_F_REPLACE = 0x100;
/** Fail with EEXIST instead of changing what is there. */
export const NLM_F_EXCL = 0x200;
export const NLM_F_CREATE = 0x400;
const IFLA_EXT_MASK = 29;
const RTEXT_FILTER_SKIP_STATS = 8;

/** A question for all of something, as `dump` takes it. */
export interface DumpQuestion {
  readonly bytes: Buffer;
  readonly what: string;
}

/** Without the counters, which are a third of each answer and take the kernel the longest. */
export function linksQuestion(sequence: number): DumpQuestion {
  const writer = new NetlinkWriter();
  const flags = NLM_F_REQUEST | NLM_F_DUMP;
  const message = writer.beginMessage({ type: RTM_GETLINK, flags, sequence });
  writer.raw(new Uint8Array(LINK_FIXED_BYTES));
  writer.u32le(IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
  writer.endMessage(message);
  return { bytes: writer.bytes, what: 'list network interfaces' };
}

export function addressesQuestion(sequence: number): DumpQuestion {
  const writer = new NetlinkWriter();
  const flags = NLM_F_REQUEST | NLM_F_DUMP;
  const message = writer.beginMessage({ type: RTM_GETADDR, flags, sequence });
  writer.raw(new Uint8Array(ADDRESS_FIXED_BYTES));
  writer.endMessage(message);
  return { bytes: writer.bytes, what: 'list addresses of interfaces' };
}

export function rulesQuestion(family: 'IPv4' | 'IPv6', sequence: number): DumpQuestion {
  const writer = new NetlinkWriter();
  const flags = NLM_F_REQUEST | NLM_F_DUMP;
  const message = writer.beginMessage({ type: RTM_GETRULE, flags, sequence });
  const fixed = new Uint8Array(RULE_FIXED_BYTES);
  fixed[0] = family === 'IPv4' ? AF_INET : AF_INET6;
  writer.raw(fixed);
  writer.endMessage(message);
  return { bytes: writer.bytes, what: `list ${family} routing rules` };
}
