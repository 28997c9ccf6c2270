import { sleep } from '../../time/sleep.ts';
import { fixedMemory } from '../sockets/fixed-memory.ts';
import { MSG_DONTWAIT, MSG_NOSIGNAL, SOL_TCP } from '../sockets/socket-constants.ts';
import { SocketError } from '../sockets/socket-error.ts';
import { errno, getsockopt, send } from '../sockets/socket-libc.ts';
import type { LargeTransfer } from './answer-kinds.ts';

/** An empty line: what programs of text protocols ignore. */
const LINE_FEED = 0x0a;
const POLL_MS = 10;
const TCP_INFO = 11;
/** struct tcp_info up to tcpi_bytes_acked (Linux 4.1). */
const INFO_BYTES = 128;
const STATE_AT = 0;
const SEGMENT_BYTES_AT = 16;
const BYTES_ACKED_AT = 120;
const TCP_CLOSE = 7;
/** The SYN counts as one. */
const SYN_BYTES = 1;

/** Sends so many bytes, and waits until a packet of full size is acknowledged. Throws SocketError. */
export async function sendLarge(
  fd: number,
  size: number,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<LargeTransfer> {
  const memory = fixedMemory(size);
  memory.bytes.fill(LINE_FEED);
  const sent = send(fd, memory.address, size, MSG_DONTWAIT | MSG_NOSIGNAL);
  const startedAtMs = performance.now();
  for (;;) {
    const { state, segmentBytes, acknowledged } = readInfo(fd);
    const bytes = Math.max(0, sent);
    const isCarried = acknowledged >= Math.min(bytes, segmentBytes);
    const hasEnded = state === TCP_CLOSE || sent < 0;
    const isOver = performance.now() - startedAtMs > timeoutMs || signal.aborted;
    if (hasEnded || isOver || isCarried) {
      return { bytes, acknowledged, segmentBytes, isCarried, hasEnded };
    }
    await sleep(POLL_MS, signal);
  }
}

function readInfo(fd: number) {
  const info = fixedMemory(INFO_BYTES);
  const size = fixedMemory(4);
  size.bytes.writeInt32LE(INFO_BYTES);
  if (getsockopt(fd, SOL_TCP, TCP_INFO, info.address, size.address) < 0) {
    throw new SocketError('read TCP_INFO', errno());
  }
  return {
    state: info.bytes.readUInt8(STATE_AT),
    segmentBytes: info.bytes.readUInt32LE(SEGMENT_BYTES_AT),
    acknowledged: Math.max(0, Number(info.bytes.readBigUInt64LE(BYTES_ACKED_AT)) - SYN_BYTES),
  };
}
