import { constants } from 'node:os';
import { NetlinkError } from '../netlink/netlink-error.ts';
import { readAcknowledgement } from '../netlink/netlink-exchange.ts';
import {
  bindNetlinkSocket,
  closeDescriptor,
  openNetlinkSocket,
  receiveOnThread,
  sendOnThread,
} from '../netlink/netlink-libc.ts';
import { type NetlinkMessage, readMessages } from '../netlink/reader.ts';

const NLMSG_DONE = 3;
const NLM_F_DUMP_INTR = 0x10;
const { EINTR, EMSGSIZE, ETIMEDOUT, ECANCELED } = constants.errno;
/** The kernel never puts more into one response of a dump. */
const RECEIVE_BYTES = 32 * 1024;

export interface ThreadedDump {
  readonly protocol: number;
  readonly bytes: Buffer;
  /** For people, when it fails. */
  readonly what: string;
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
}

/**
 * Gives the messages of a dump, answer by answer, lent until the next is asked for. Every call
 * into the kernel is made on a thread: each takes a fraction of a millisecond, but there are more
 * than a thousand of them, and with a filter one may take many milliseconds.
 */
export async function* threadedDump(dump: ThreadedDump): AsyncGenerator<readonly NetlinkMessage[]> {
  const fd = orThrow(openNetlinkSocket(dump.protocol), 'open a netlink socket');
  try {
    orThrow(bindNetlinkSocket(fd), 'bind a netlink socket');
    const failed = await sendOnThread(fd, dump.bytes);
    if (failed) throw new NetlinkError(dump.what, failed);
    yield* answers(fd, dump);
  } finally {
    // No thread is inside a call with it: each was awaited.
    closeDescriptor(fd);
  }
}

async function* answers(fd: number, dump: ThreadedDump): AsyncGenerator<NetlinkMessage[]> {
  const buffer = Buffer.allocUnsafeSlow(RECEIVE_BYTES);
  const endAtMs = performance.now() + dump.deadlineMs;
  let interrupted = false;
  for (;;) {
    if (dump.signal.aborted) throw new NetlinkError(dump.what, { errno: ECANCELED });
    if (performance.now() > endAtMs) throw new NetlinkError(dump.what, { errno: ETIMEDOUT });
    const length = orThrow(await receiveOnThread(fd, buffer), dump.what);
    if (length > RECEIVE_BYTES) throw new NetlinkError(dump.what, { errno: EMSGSIZE });
    const messages = [...readMessages(buffer.subarray(0, length))];
    const last = messages.findIndex((message) => isEnd(message, dump.what));
    interrupted ||= messages.some(({ flags }) => (flags & NLM_F_DUMP_INTR) !== 0);
    yield last < 0 ? messages : messages.slice(0, last);
    if (last < 0) continue;
    // The dump may be incomplete: the caller decides whether that matters.
    if (interrupted) throw new NetlinkError(dump.what, { errno: EINTR });
    return;
  }
}

/** Throws when the kernel rejects the request, or ends with an error. */
function isEnd(message: NetlinkMessage, what: string): boolean {
  if (message.type === NLMSG_DONE) {
    const errno = message.body.length >= 4 ? -message.body.readInt32LE(0) : 0;
    if (errno > 0) throw new NetlinkError(what, { errno });
    return true;
  }
  const rejected = readAcknowledgement(message);
  if (rejected && rejected.errno !== 0) throw new NetlinkError(what, rejected);
  return false;
}

function orThrow(result: number | { readonly errno: number }, what: string): number {
  if (typeof result === 'number') return result;
  throw new NetlinkError(what, result);
}
