import { parseIp } from '../../../addresses/ip.ts';
import { ipv4Number } from '../../../addresses/ipv4-number.ts';
import { ipv6Groups, isMappedIpv4 } from '../../../addresses/ipv6-groups.ts';
import type { Protocol } from '../../../forwarding/model.ts';
import {
  DESTINATION_PORT,
  destinationAddress,
  type Field,
  L4_PROTOCOL,
} from '../../../linux/nftables/fields.ts';
import type { TableFamily } from '../../../linux/nftables/nftables-protocol.ts';
import type { Binary } from '../../../linux/nftables/userdata.ts';

/**
 * Keys and values of elements, as the kernel compares them: fields in sequence, each aligned to
 * four bytes. Strings with one character per byte, because a map of a quarter of a million of them
 * must be fast to look up and small.
 */

const PROTOCOL_NUMBER: Readonly<Record<Protocol, number>> = { TCP: 6, UDP: 17, SCTP: 132 };

export function frontendFields(family: TableFamily): readonly Field[] {
  return [destinationAddress(family), L4_PROTOCOL, DESTINATION_PORT];
}

export function frontendKey(address: string, protocol: Protocol, port: number): Binary {
  return addressBytes(address) + nodePortKey(protocol, port);
}

export function nodePortKey(protocol: Protocol, port: number): Binary {
  return String.fromCharCode(PROTOCOL_NUMBER[protocol], 0, 0, 0, port >>> 8, port & 0xff, 0, 0);
}

export function endpointValue(endpoint: {
  readonly address: string;
  readonly port: number;
}): Binary {
  const { address, port } = endpoint;
  return addressBytes(address) + String.fromCharCode(port >>> 8, port & 0xff, 0, 0);
}

export function protocolByte(protocol: Protocol): Binary {
  return String.fromCharCode(PROTOCOL_NUMBER[protocol]);
}

/** A number as the machine keeps it: marks, slots, classes. */
export function hostNumber(value: number): Binary {
  return String.fromCharCode(
    value & 0xff,
    (value >>> 8) & 0xff,
    (value >>> 16) & 0xff,
    (value >>> 24) & 0xff,
  );
}

/** A number with its largest byte first, as intervals need it. */
export function networkNumber(value: number): Binary {
  return String.fromCharCode(
    (value >>> 24) & 0xff,
    (value >>> 16) & 0xff,
    (value >>> 8) & 0xff,
    value & 0xff,
  );
}

export function addressBytes(text: string): Binary {
  return ipv4Bytes(text) ?? ipv6Bytes(text) ?? anyAddressBytes(text);
}

/** The common case. */
function ipv4Bytes(text: string): Binary | undefined {
  const number = ipv4Number(text);
  return number === undefined ? undefined : networkNumber(number);
}

function ipv6Bytes(text: string): Binary | undefined {
  const groups = ipv6Groups(text);
  if (groups === undefined || isMappedIpv4(groups)) return undefined;
  let bytes = '';
  for (const group of groups) bytes += String.fromCharCode(group >>> 8, group & 0xff);
  return bytes;
}

function anyAddressBytes(text: string): Binary {
  const ip = parseIp(text);
  if (!ip) throw new RangeError(`'${text}' is not an IP address`);
  return String.fromCharCode(...ip.bytes);
}
