import { constants } from 'node:os';
import { parseIp } from '../../addresses/ip.ts';
import { PROTOCOL_TCP } from '../conntrack/conntrack-protocol.ts';
import { closeDescriptor, closedOnError, orThrow } from '../sockets/descriptors.ts';
import { fixedMemory } from '../sockets/fixed-memory.ts';
import {
  AF_INET,
  AF_INET6,
  IP_RECVERR,
  IPV6_RECVERR,
  SOCK_CLOEXEC,
  SOCK_NONBLOCK,
  SOCK_RAW,
  SOL_IP,
  SOL_IPV6,
} from '../sockets/socket-constants.ts';
import { SocketError } from '../sockets/socket-error.ts';
import { bind, send, socket } from '../sockets/socket-libc.ts';
import { SocketOptions } from '../sockets/socket-options.ts';
import {
  addressMemory,
  type BoundPort,
  connectTo,
  type HeldPort,
  inside,
  isIPv6,
} from './held-port.ts';

/** Sends, and tells by which descriptor the answer comes. */
export interface SentProbe extends Disposable {
  readonly fd: number;
  /** A raw socket gets packets, and not what is in them. */
  readonly isRaw: boolean;
  /** The kernel did not send it: an errno; EPERM is a rule that dropped it on its way out. */
  readonly failed?: number;
}

const { EINPROGRESS } = constants.errno;
const MOST_SEQUENCE = 0xffff_ffff;

/**
 * One SYN from a raw socket: the endpoint's kernel answers, ours resets, and no program sees a
 * connection. Needs CAP_NET_RAW.
 */
export function sendSyn(port: BoundPort): SentProbe {
  const { source, sourcePort, target } = port;
  const fd = inside(port.namespacePath, () => openRaw(port));
  const segment = synSegment({
    source,
    sourcePort,
    destination: target.address,
    destinationPort: target.port,
    sequence: Math.floor(Math.random() * MOST_SEQUENCE),
  });
  const failed = sendOn(fd, segment);
  return {
    fd,
    isRaw: true,
    ...(failed === undefined ? {} : { failed }),
    [Symbol.dispose]: () => closeDescriptor(fd),
  };
}

/** Connected, so that it gets only packets and errors from the target. */
function openRaw({ source, target }: BoundPort): number {
  const isSix = isIPv6(target.address);
  const type = SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC;
  const made = socket(isSix ? AF_INET6 : AF_INET, type, PROTOCOL_TCP);
  const fd = orThrow(made, 'open a raw socket (CAP_NET_RAW)');
  return closedOnError(fd, () => {
    const at = addressMemory({ address: source, port: 0 });
    orThrow(bind(fd, at.address, at.length), `bind a raw socket to ${source}`);
    hearErrors(fd, isSix);
    connectTo(fd, { address: target.address, port: 0 });
    return fd;
  });
}

/** An empty datagram. */
export function sendDatagram(port: HeldPort): SentProbe {
  const { fd, target } = port;
  hearErrors(fd, isIPv6(target.address));
  connectTo(fd, target);
  const failed = sendOn(fd, Buffer.alloc(0));
  return {
    fd,
    isRaw: false,
    ...(failed === undefined ? {} : { failed }),
    // The port stays held until the trace has ended.
    [Symbol.dispose]: () => undefined,
  };
}

/** A handshake; closing resets the connection. */
export function startConnection(port: HeldPort): SentProbe {
  const sent = { fd: port.fd, isRaw: false, [Symbol.dispose]: () => undefined };
  try {
    connectTo(port.fd, port.target);
    return sent;
  } catch (error) {
    if (!(error instanceof SocketError)) throw error;
    return error.errno === EINPROGRESS ? sent : { ...sent, failed: error.errno };
  }
}

/** Unreachable hosts too, of which a socket is not told otherwise. */
function hearErrors(fd: number, isSix: boolean): void {
  const option = isSix
    ? { level: SOL_IPV6, name: IPV6_RECVERR }
    : { level: SOL_IP, name: IP_RECVERR };
  new SocketOptions().setNumber(fd, option, 1);
}

function sendOn(fd: number, bytes: Buffer): number | undefined {
  const memory = fixedMemory(Math.max(1, bytes.length));
  memory.bytes.set(bytes);
  try {
    orThrow(send(fd, memory.address, bytes.length, 0), 'send a probe');
    return undefined;
  } catch (error) {
    if (error instanceof SocketError) return error.errno;
    throw error;
  }
}

interface SynOf {
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
