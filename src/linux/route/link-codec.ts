import { type NetlinkMessage, numberOf, readAttributes, textOf } from '../netlink/reader.ts';
import { AF_UNSPEC, LINK_FIXED_BYTES, RTM_DELLINK, RTM_NEWLINK } from './route-protocol.ts';

export const IFLA_IFNAME = 3;
const IFLA_MTU = 4;
const IFLA_MASTER = 10;
export const IFLA_LINKINFO = 18;
export const IFLA_INFO_KIND = 1;
const IFF_UP = 0x1;
const IFF_LOOPBACK = 0x8;

export interface MachineLink {
  readonly index: number;
  readonly name: string;
  /** Such as `veth`, `bridge` or `dummy`; empty for hardware and the loopback. */
  readonly kind: string;
  /** Administratively up; the carrier may be missing. */
  readonly up: boolean;
  readonly loopback: boolean;
  /** The index of the bridge or other device that it is a port of; 0: none. */
  readonly master: number;
  /** The largest packet, in bytes; 0: not known. */
  readonly mtu: number;
}

/** A link, or its removal. */
export interface LinkChange {
  readonly of: 'link';
  readonly index: number;
  readonly link: MachineLink | undefined;
}

/** Undefined: not about a link, or not readable. */
export function readLinkChange(message: NetlinkMessage): LinkChange | undefined {
  const { type, body } = message;
  if (type !== RTM_NEWLINK && type !== RTM_DELLINK) return undefined;
  // A link that leaves a bridge is "deleted" in the family of bridges, and stays all the same.
  if (body.length < LINK_FIXED_BYTES || body[0] !== AF_UNSPEC) return undefined;
  const index = body.readInt32LE(4);
  if (type === RTM_DELLINK) return { of: 'link', index, link: undefined };
  const attributes = readAttributes(body.subarray(LINK_FIXED_BYTES));
  const name = textOf(attributes.get(IFLA_IFNAME));
  if (name === '') return undefined;
  const about = attributes.get(IFLA_LINKINFO);
  const kind = about === undefined ? '' : textOf(readAttributes(about).get(IFLA_INFO_KIND));
  const flags = body.readUInt32LE(8);
  const link = {
    index,
    name,
    kind,
    up: (flags & IFF_UP) !== 0,
    loopback: (flags & IFF_LOOPBACK) !== 0,
    master: attributes.get(IFLA_MASTER)?.readUInt32LE(0) ?? 0,
    mtu: numberOf(attributes.get(IFLA_MTU)) ?? 0,
  };
  return { of: 'link', index, link };
}
