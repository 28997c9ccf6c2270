import { formatIp } from '../../addresses/ip.ts';
import { PROTOCOL_SCTP, PROTOCOL_TCP, PROTOCOL_UDP } from '../conntrack/conntrack-protocol.ts';

/** What a packet's headers say at one moment. */
export interface PacketHeader {
  readonly source: string;
  readonly destination: string;
  readonly protocol: number;
  /** Undefined: a protocol without ports. */
  readonly sourcePort?: number;
  readonly destinationPort?: number;
  /** In the order of the header, such as `SYN`, `ACK`. */
  readonly tcpFlags?: readonly TcpFlag[];
}

const TCP_FLAGS = ['FIN', 'SYN', 'RST', 'PSH', 'ACK', 'URG'] as const;
export type TcpFlag = (typeof TCP_FLAGS)[number];

const IPV4_BYTES = 20;
const IPV6_BYTES = 40;
const TCP_FLAGS_AT = 13;
const WITH_PORTS = new Set([PROTOCOL_TCP, PROTOCOL_UDP, PROTOCOL_SCTP]);

/** `transport`: empty where the packet ends before it. Undefined: no IP header. */
export function readPacketHeader(network: Buffer, transport: Buffer): PacketHeader | undefined {
  const ip = readIp(network);
  if (ip === undefined) return undefined;
  if (!WITH_PORTS.has(ip.protocol) || transport.length < 4) return ip;
  const ports = {
    sourcePort: transport.readUInt16BE(0),
    destinationPort: transport.readUInt16BE(2),
  };
  const bits = ip.protocol === PROTOCOL_TCP ? transport[TCP_FLAGS_AT] : undefined;
  if (bits === undefined) return { ...ip, ...ports };
  const tcpFlags = TCP_FLAGS.filter((_, bit) => (bits & (1 << bit)) !== 0);
  return { ...ip, ...ports, tcpFlags };
}

function readIp(bytes: Buffer): Omit<PacketHeader, 'sourcePort' | 'destinationPort'> | undefined {
  const version = (bytes[0] ?? 0) >> 4;
  if (version === 4 && bytes.length >= IPV4_BYTES) {
    return {
      source: formatIp({ version: 4, bytes: bytes.subarray(12, 16) }),
      destination: formatIp({ version: 4, bytes: bytes.subarray(16, 20) }),
      protocol: bytes.readUInt8(9),
    };
  }
  if (version !== 6 || bytes.length < IPV6_BYTES) return undefined;
  return {
    source: formatIp({ version: 6, bytes: bytes.subarray(8, 24) }),
    destination: formatIp({ version: 6, bytes: bytes.subarray(24, 40) }),
    // Extension headers come first where there are any; probes have none.
    protocol: bytes.readUInt8(6),
  };
}
