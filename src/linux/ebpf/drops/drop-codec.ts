import { formatIp, parseIp } from '../../../addresses/ip.ts';
import type { Drop, End, Tuple } from '../../drops/drop.ts';
import { nameAt } from '../info.ts';

/** Without the names of the kernel, which are found for all at once. */
export interface RawDrop extends Omit<Drop, 'reason' | 'function'> {
  readonly reasonNumber: number;
  readonly location: bigint;
}

const END_BYTES = 20;
const PACKET_AT = 40;
const ORIGINAL_AT = 80;
const IPV4_MAPPED = Buffer.from('00000000000000000000ffff', 'hex');

/** `struct end` of bpf/drop.bpf.c. */
export function encodeEnd({ address, port, protocol }: End): Buffer {
  const bytes = Buffer.alloc(END_BYTES);
  if (address !== undefined) {
    const parsed = parseIp(address);
    if (parsed === undefined) throw new RangeError(`${address} is no IP address`);
    if (parsed.version === 4) bytes.set(IPV4_MAPPED);
    bytes.set(parsed.bytes, parsed.version === 4 ? IPV4_MAPPED.length : 0);
  }
  bytes.writeUInt16BE(port, 16);
  bytes.writeUInt8(protocol, 18);
  return bytes;
}

/** `struct drop` of bpf/drop.bpf.c. */
export function decodeDrop(bytes: Buffer): RawDrop {
  const packet = decodeTuple(bytes.subarray(PACKET_AT, ORIGINAL_AT));
  const original = decodeTuple(bytes.subarray(ORIGINAL_AT));
  const known = packet ?? original;
  if (known === undefined) throw new RangeError('a drop has neither packet nor conntrack entry');
  return {
    location: bytes.readBigUInt64LE(0),
    reasonNumber: bytes.readUInt32LE(8),
    networkNamespace: bytes.readUInt32LE(12),
    device: nameAt(bytes.subarray(20, PACKET_AT), 0),
    packet: known,
    original,
  };
}

function decodeTuple(bytes: Buffer): Tuple | undefined {
  if (bytes.readUInt8(37) === 0) return undefined;
  return {
    protocol: bytes.readUInt8(36),
    source: addressText(bytes.subarray(0, 16)),
    sourcePort: bytes.readUInt16BE(32),
    destination: addressText(bytes.subarray(16, 32)),
    destinationPort: bytes.readUInt16BE(34),
  };
}

function addressText(bytes: Buffer): string {
  const isIpv4 = bytes.subarray(0, IPV4_MAPPED.length).equals(IPV4_MAPPED);
  return isIpv4
    ? formatIp({ version: 4, bytes: bytes.subarray(IPV4_MAPPED.length) })
    : formatIp({ version: 6, bytes });
}
