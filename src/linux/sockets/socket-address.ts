import { formatIp, parseIp } from '../../addresses/ip.ts';
import { AF_INET, AF_INET6 } from './socket-constants.ts';

/** struct sockaddr_in and sockaddr_in6. */
export const SOCKET_ADDRESS_BYTES = { IPv4: 16, IPv6: 28 } as const;
export const MOST_SOCKET_ADDRESS_BYTES = SOCKET_ADDRESS_BYTES.IPv6;
/** Where the address begins, after family and port (and the flow label). */
export const IPV4_OFFSET = 4;
export const IPV6_OFFSET = 8;

export interface SocketAddress {
  readonly address: string;
  readonly port: number;
}

/** Writes it at the start of `into` and returns its length. */
export function encodeSocketAddress(into: Buffer, { address, port }: SocketAddress): number {
  const ip = parseIp(address);
  if (ip === undefined) throw new RangeError(`'${address}' is not an IP address`);
  const length = SOCKET_ADDRESS_BYTES[ip.version === 4 ? 'IPv4' : 'IPv6'];
  into.fill(0, 0, length);
  into.writeUInt16LE(ip.version === 4 ? AF_INET : AF_INET6, 0);
  into.writeUInt16BE(port, 2);
  into.set(ip.bytes, ip.version === 4 ? IPV4_OFFSET : IPV6_OFFSET);
  return length;
}

/** An IPv4 address written the IPv6 way is returned as IPv4. */
export function decodeSocketAddress(bytes: Buffer): SocketAddress {
  const family = bytes.readUInt16LE(0);
  const port = bytes.readUInt16BE(2);
  if (family === AF_INET) {
    const address = formatIp({ version: 4, bytes: bytes.subarray(IPV4_OFFSET, IPV4_OFFSET + 4) });
    return { address, port };
  }
  if (family !== AF_INET6) throw new RangeError(`address family ${family} is not IPv4 or IPv6`);
  const text = formatIp({ version: 6, bytes: bytes.subarray(IPV6_OFFSET, IPV6_OFFSET + 16) });
  const ip = parseIp(text);
  return { address: ip === undefined ? text : formatIp(ip), port };
}
