import { parseIp } from '../../../addresses/ip.ts';

/** Addresses of one family. */
export interface Ends {
  readonly source: string;
  readonly destination: string;
}

export interface PortEnds extends Ends {
  readonly sourcePort: number;
  readonly destinationPort: number;
}

export const PROTOCOL = { tcp: 6, udp: 17 } as const;
export const TCP_FLAG = { fin: 1, syn: 2, rst: 4, ack: 0x10, ece: 0x40, cwr: 0x80 } as const;

export function udpDatagram(ends: PortEnds, data: Uint8Array): Buffer {
  const datagram = Buffer.alloc(8 + data.length);
  datagram.writeUInt16BE(ends.sourcePort, 0);
  datagram.writeUInt16BE(ends.destinationPort, 2);
  datagram.writeUInt16BE(datagram.length, 4);
  datagram.set(data, 8);
  datagram.writeUInt16BE(transportSum(ends, PROTOCOL.udp, datagram) || 0xffff, 6);
  return datagram;
}

/** Without data or options. */
export function tcpSegment(ends: PortEnds, flags: number): Buffer {
  const segment = Buffer.alloc(20);
  segment.writeUInt16BE(ends.sourcePort, 0);
  segment.writeUInt16BE(ends.destinationPort, 2);
  segment.writeUInt32BE(1_000_000, 4);
  segment[12] = 5 << 4;
  segment[13] = flags;
  segment.writeUInt16BE(0xffff, 14);
  segment.writeUInt16BE(transportSum(ends, PROTOCOL.tcp, segment), 16);
  return segment;
}

/** `fragment`: the offset in eights of a byte, and whether more follows. */
export function ipv4Packet(
  { source, destination }: Ends,
  protocol: number,
  parts: {
    readonly payload: Uint8Array;
    readonly fragment?: { readonly offset: number; readonly more: boolean };
  },
): Buffer {
  const { payload, fragment = { offset: 0, more: false } } = parts;
  const header = Buffer.alloc(20);
  header[0] = 0x45;
  header.writeUInt16BE(header.length + payload.length, 2);
  header.writeUInt16BE(0x1234, 4);
  header.writeUInt16BE(fragment.offset | (fragment.more ? 0x2000 : 0), 6);
  header[8] = 64;
  header[9] = protocol;
  header.set(bytesOf(source), 12);
  header.set(bytesOf(destination), 16);
  header.writeUInt16BE(onesSum([header]), 10);
  return Buffer.concat([header, payload]);
}

/** A header between that of IPv6 and that of the transport: its number and its bytes but the first. */
export interface Extension {
  readonly number: number;
  readonly rest: Uint8Array;
}

export function ipv6Packet(
  { source, destination }: Ends,
  protocol: number,
  parts: { readonly payload: Uint8Array; readonly extensions?: readonly Extension[] },
): Buffer {
  const { payload, extensions = [] } = parts;
  const numbers = [...extensions.map(({ number }) => number), protocol];
  const between = extensions.map(({ rest }, at) => Buffer.from([numbers[at + 1] ?? 0, ...rest]));
  const body = Buffer.concat([...between, payload]);
  const header = Buffer.alloc(40);
  header[0] = 0x60;
  header.writeUInt16BE(body.length, 4);
  header[6] = numbers[0] ?? protocol;
  header[7] = 64;
  header.set(bytesOf(source), 8);
  header.set(bytesOf(destination), 24);
  return Buffer.concat([header, body]);
}

/** Each eight bytes long, with padding where it has options. */
export const EXTENSION = {
  hopByHop: { number: 0, rest: Uint8Array.of(0, 1, 4, 0, 0, 0, 0) },
  destination: { number: 60, rest: Uint8Array.of(0, 1, 4, 0, 0, 0, 0) },
  /** Arrived: no segment is left. */
  routing: { number: 43, rest: Uint8Array.of(0, 0, 0, 0, 0, 0, 0) },
} as const;

export function fragmentExtension(offset: number, more: boolean): Extension {
  const rest = Buffer.alloc(7);
  rest.writeUInt16BE((offset << 3) | (more ? 1 : 0), 1);
  rest.writeUInt32BE(0x1234, 3);
  return { number: 44, rest };
}

function transportSum({ source, destination }: Ends, protocol: number, body: Buffer): number {
  const end = Buffer.alloc(8);
  end.writeUInt32BE(body.length, 0);
  end[7] = protocol;
  return onesSum([bytesOf(source), bytesOf(destination), end, body]);
}

/** The checksum of the internet; each part but the last has an even length. */
function onesSum(parts: readonly Uint8Array[]): number {
  const bytes = Buffer.concat(parts);
  let sum = 0;
  for (let at = 0; at < bytes.length; at += 2) {
    sum += ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
  }
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}

function bytesOf(address: string): Uint8Array {
  const ip = parseIp(address);
  if (ip === undefined) throw new TypeError(`${address} is not an address`);
  return ip.bytes;
}
