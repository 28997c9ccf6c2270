import { parseIp } from '../../addresses/ip.ts';
import { PROTOCOL_TCP } from '../conntrack/protocol.ts';

export interface SynOf {
  readonly source: string;
  readonly sourcePort: number;
  readonly destination: string;
  readonly destinationPort: number;
  readonly sequence: number;
}

const SEGMENT_BYTES = 24;
const SYN = 2;
const WINDOW = 64_240;
/** Maximum segment size 1220: fits into every path. */
const MSS_OPTION = [2, 4, 0x04, 0xc4];

/** A TCP segment that asks for a connection, without its IP header. */
export function synSegment(syn: SynOf): Buffer {
  const segment = Buffer.alloc(SEGMENT_BYTES);
  segment.writeUInt16BE(syn.sourcePort, 0);
  segment.writeUInt16BE(syn.destinationPort, 2);
  segment.writeUInt32BE(syn.sequence, 4);
  segment[12] = (SEGMENT_BYTES / 4) << 4;
  segment[13] = SYN;
  segment.writeUInt16BE(WINDOW, 14);
  segment.set(MSS_OPTION, 20);
  segment.writeUInt16BE(checksum([...pseudoHeader(syn), ...segment]), 16);
  return segment;
}

/** For checksums the word order of length and protocol makes no difference between the families. */
function pseudoHeader({ source, destination }: SynOf): readonly number[] {
  return [...bytesOf(source), ...bytesOf(destination), 0, PROTOCOL_TCP, 0, SEGMENT_BYTES];
}

function bytesOf(address: string): Uint8Array {
  const ip = parseIp(address);
  if (ip === undefined) throw new RangeError(`'${address}' is not an IP address`);
  return ip.bytes;
}

function checksum(bytes: readonly number[]): number {
  let sum = 0;
  for (let at = 0; at < bytes.length; at += 2)
    sum += ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}
