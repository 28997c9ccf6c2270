import { formatIp, type IpAddress, parseIp } from '../../../../addresses/ip.ts';
import type { Family } from '../../../../forwarding/model.ts';
import {
  IPV4_OFFSET,
  IPV6_OFFSET,
  type SocketAddress,
} from '../../../../linux/sockets/socket-address.ts';
import { type AddressKey, IPV6, NODE_PORT } from './row-memory.ts';

const PORT_MASK = 0xffff;

/** Of a frontend of a row; without an address, of a node port. */
export function frontendKey(family: Family, { address, port }: SocketAddress): AddressKey {
  if (address !== '') return addressKey({ address, port });
  const meta = port | NODE_PORT | (family === 'IPv6' ? IPV6 : 0);
  return { a: 0, b: 0, c: 0, d: 0, meta };
}

export function addressKey({ address, port }: SocketAddress): AddressKey {
  const ip = parseIp(address);
  if (ip === undefined) throw new RangeError(`'${address}' is not an IP address`);
  return keyOfBytes(ip.bytes, 0, ip.version === 6 ? port | IPV6 : port);
}

/** Of the bytes of a struct sockaddr_in or sockaddr_in6. */
export function keyOfSocketAddress(bytes: Uint8Array, isIPv6: boolean): AddressKey {
  const port = ((bytes[2] as number) << 8) | (bytes[3] as number);
  return keyOfBytes(bytes, isIPv6 ? IPV6_OFFSET : IPV4_OFFSET, isIPv6 ? port | IPV6 : port);
}

/** Writes the address, not the port. */
export function writeAddress({ a, b, c, d, meta }: AddressKey, into: Buffer, at: number): void {
  into.writeInt32BE(a, at);
  if ((meta & IPV6) === 0) return;
  into.writeInt32BE(b, at + 4);
  into.writeInt32BE(c, at + 8);
  into.writeInt32BE(d, at + 12);
}

export function ipOfKey(key: AddressKey): IpAddress {
  const version = (key.meta & IPV6) === 0 ? 4 : 6;
  const bytes = Buffer.alloc(version === 4 ? 4 : 16);
  writeAddress(key, bytes, 0);
  return { version, bytes };
}

export function portOfKey({ meta }: AddressKey): number {
  return meta & PORT_MASK;
}

/** `address port`, as in listings. */
export function keyText(key: AddressKey): string {
  return `${formatIp(ipOfKey(key))} ${portOfKey(key)}`;
}

export function keyOfText(text: string): AddressKey {
  const space = text.indexOf(' ');
  return addressKey({ address: text.slice(0, space), port: Number(text.slice(space + 1)) });
}

function keyOfBytes(bytes: Uint8Array, at: number, meta: number): AddressKey {
  const a = wordAt(bytes, at);
  if ((meta & IPV6) === 0) return { a, b: 0, c: 0, d: 0, meta };
  const [b, c, d] = [wordAt(bytes, at + 4), wordAt(bytes, at + 8), wordAt(bytes, at + 12)];
  return { a, b, c, d, meta };
}

function wordAt(bytes: Uint8Array, at: number): number {
  const high = ((bytes[at] as number) << 24) | ((bytes[at + 1] as number) << 16);
  return high | ((bytes[at + 2] as number) << 8) | (bytes[at + 3] as number);
}
