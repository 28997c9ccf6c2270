import { formatIp } from '../../addresses/ip.ts';
import { type NetlinkMessage, numberOf, readAttributes } from '../netlink/reader.ts';
import {
  ADDRESS_FIXED_BYTES,
  AF_INET,
  AF_INET6,
  RTM_DELADDR,
  RTM_NEWADDR,
} from './route-protocol.ts';

const IFA_ADDRESS = 1;
const IFA_LOCAL = 2;
const IFA_FLAGS = 8;
/** For IPv4 the same bit means: secondary in its subnet. */
const IFA_F_TEMPORARY = 0x01;
const IFA_F_DADFAILED = 0x08;
const IFA_F_DEPRECATED = 0x20;
const IFA_F_TENTATIVE = 0x40;

export interface LinkAddress {
  readonly address: string;
  readonly family: 'IPv4' | 'IPv6';
  readonly prefixLength: number;
  readonly linkIndex: number;
  readonly scope: 'global' | 'site' | 'link' | 'host' | 'nowhere' | 'other';
  /** One of the addresses that IPv6 changes for the sake of privacy. */
  readonly temporary: boolean;
  /** Tentative: duplicate address detection is running. */
  readonly tentative: boolean;
  /** Duplicate: another host has it. */
  readonly duplicate: boolean;
  /** Not used for new connections from here; connections to it are served. */
  readonly deprecated: boolean;
}

/** An address of a link, or its removal. */
export interface AddressChange {
  readonly of: 'address';
  /** The same key for all events of one address. */
  readonly key: string;
  readonly linkIndex: number;
  readonly address: LinkAddress | undefined;
}

/** Undefined: not about an address, or not readable. */
export function readAddressChange(message: NetlinkMessage): AddressChange | undefined {
  const { type, body } = message;
  if (type !== RTM_NEWADDR && type !== RTM_DELADDR) return undefined;
  if (body.length < ADDRESS_FIXED_BYTES) return undefined;
  const attributes = readAttributes(body.subarray(ADDRESS_FIXED_BYTES));
  const family = familyOf(body.readUInt8(0));
  const peer = attributes.get(IFA_ADDRESS);
  // On a link between two the first attribute is the address of the other end.
  const own = attributes.get(IFA_LOCAL) ?? peer;
  if (family === undefined || own?.length !== (family === 'IPv4' ? 4 : 16)) return undefined;
  const prefixLength = body.readUInt8(1);
  const linkIndex = body.readUInt32LE(4);
  const key = [linkIndex, own.toString('hex'), prefixLength, peer?.toString('hex')].join(' ');
  if (type === RTM_DELADDR) return { of: 'address', key, linkIndex, address: undefined };
  // The byte in the fixed part has no room for the newer flags.
  const flags = numberOf(attributes.get(IFA_FLAGS)) ?? body.readUInt8(2);
  const address = {
    address: formatIp({ version: family === 'IPv4' ? 4 : 6, bytes: own }),
    family,
    prefixLength,
    linkIndex,
    scope: scopeOf(body.readUInt8(3)),
    temporary: family === 'IPv6' && (flags & IFA_F_TEMPORARY) !== 0,
    tentative: (flags & IFA_F_TENTATIVE) !== 0,
    duplicate: (flags & IFA_F_DADFAILED) !== 0,
    deprecated: (flags & IFA_F_DEPRECATED) !== 0,
  };
  return { of: 'address', key, linkIndex, address };
}

function familyOf(number: number): LinkAddress['family'] | undefined {
  if (number === AF_INET) return 'IPv4';
  return number === AF_INET6 ? 'IPv6' : undefined;
}

function scopeOf(number: number): LinkAddress['scope'] {
  switch (number) {
    case 0:
      return 'global';
    case 200:
      return 'site';
    case 253:
      return 'link';
    case 254:
      return 'host';
    case 255:
      return 'nowhere';
    default:
      return 'other';
  }
}
