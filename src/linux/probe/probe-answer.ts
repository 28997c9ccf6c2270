import { constants } from 'node:os';
import { getSystemErrorName } from 'node:util';
import { fixedMemory } from '../sockets/fixed-memory.ts';
import { MSG_DONTWAIT } from '../sockets/socket-constants.ts';
import { SocketError } from '../sockets/socket-error.ts';
import { errno, recv } from '../sockets/socket-libc.ts';
import { SocketOptions } from '../sockets/socket-options.ts';
import { untilReady, type Wait } from '../sockets/until-ready.ts';
import type { ProbeAnswer } from './answer-kinds.ts';
import { type HeldPort, isIPv6 } from './held-port.ts';
import type { SentProbe } from './send-probe.ts';

const { ECONNREFUSED, ECONNRESET, EPERM, EAGAIN, ETIMEDOUT, ECANCELED } = constants.errno;
const RECEIVE_BYTES = 2048;
const TCP_SOURCE_PORT_AT = 0;
const TCP_DESTINATION_PORT_AT = 2;
const TCP_FLAGS_AT = 13;
const SYN_AND_ACK = 0x12;
const RST = 0x04;

/** Waits for what comes back, until the deadline or the signal. */
export async function probeAnswer(
  sent: SentProbe,
  port: HeldPort,
  { timeoutMs, signal }: Wait,
): Promise<ProbeAnswer> {
  const beganMs = performance.now();
  // A rule on its way out may have rejected it, and then an answer comes.
  if (sent.failed !== undefined && sent.failed !== EPERM) return ofErrno(sent.failed, 0);
  const memory = fixedMemory(RECEIVE_BYTES);
  for (;;) {
    const leftMs = timeoutMs - (performance.now() - beganMs);
    if (leftMs <= 0) return { is: 'silent' };
    const isConnecting = port.target.protocol === 'TCP' && !sent.isRaw;
    const wait = { timeoutMs: leftMs, ...(signal === undefined ? {} : { signal }) };
    if (!(await isReady(sent.fd, isConnecting, wait))) return { is: 'silent' };
    const afterMs = performance.now() - beganMs;
    const failed = new SocketOptions().takeError(sent.fd);
    if (failed !== 0) return ofErrno(failed, afterMs);
    if (isConnecting) return { is: 'accepted', afterMs };
    const length = recv(sent.fd, memory.address, RECEIVE_BYTES, MSG_DONTWAIT);
    if (length < 0 && errno() !== EAGAIN) return ofErrno(errno(), afterMs);
    if (length < 0) continue;
    if (!sent.isRaw) return { is: 'answered', afterMs };
    const answer = ofSegment(memory.bytes.subarray(0, length), port);
    if (answer !== undefined) return { is: answer, afterMs };
  }
}

async function isReady(fd: number, isConnecting: boolean, wait: Wait): Promise<boolean> {
  try {
    await untilReady(fd, isConnecting ? 'writable' : 'readable', wait);
    return true;
  } catch (error) {
    if (!(error instanceof SocketError)) throw error;
    if (error.errno === ETIMEDOUT || error.errno === ECANCELED) return false;
    throw error;
  }
}

function ofErrno(number: number, afterMs: number): ProbeAnswer {
  if (number === ECONNREFUSED || number === ECONNRESET) return { is: 'refused', afterMs };
  return { is: 'unreachable', code: getSystemErrorName(-number), afterMs };
}

/** A raw socket gets every segment of its addresses; undefined: not of this probe. */
function ofSegment(packet: Buffer, port: HeldPort): 'accepted' | 'refused' | undefined {
  const segment = packet.subarray(headerBytes(packet, port));
  if (segment.length <= TCP_FLAGS_AT) return undefined;
  const isOurs =
    segment.readUInt16BE(TCP_SOURCE_PORT_AT) === port.target.port &&
    segment.readUInt16BE(TCP_DESTINATION_PORT_AT) === port.sourcePort;
  if (!isOurs) return undefined;
  const flags = segment.readUInt8(TCP_FLAGS_AT);
  if ((flags & SYN_AND_ACK) === SYN_AND_ACK) return 'accepted';
  return (flags & RST) === 0 ? undefined : 'refused';
}

/** Of IPv4 a raw socket gets the IP header too. */
function headerBytes(packet: Buffer, { target }: HeldPort): number {
  return isIPv6(target.address) ? 0 : ((packet[0] ?? 0) & 0xf) * 4;
}
