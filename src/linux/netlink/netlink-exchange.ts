import { constants } from 'node:os';
import { NetlinkError, NetlinkRejection } from './netlink-error.ts';
import type { Netlink } from './netlink-socket.ts';
import { type NetlinkMessage, numberOf, readAttributes, textOf } from './reader.ts';

const NLMSG_ERROR = 2;
const NLMSG_DONE = 3;
const NLM_F_DUMP_INTR = 0x10;
const NLM_F_CAPPED = 0x100;
const NLM_F_ACK_TLVS = 0x200;
const NLMSGERR_ATTR_MSG = 1;
const NLMSGERR_ATTR_OFFS = 2;
const MESSAGE_HEADER_BYTES = 16;
const { EBADMSG, ETIMEDOUT } = constants.errno;
/** The answer to a question is there when the question has been sent; a second wait is a fault. */
const MOST_EMPTY_READS = 1000;

/** An acknowledgement: errno 0 for success, else the error. */
export interface Acknowledgement {
  readonly sequence: number;
  readonly errno: number;
  readonly detail?: string;
  /** Offset of the rejected attribute in the message. */
  readonly offset?: number;
}

export function readAcknowledgement(message: NetlinkMessage): Acknowledgement | undefined {
  if (message.type !== NLMSG_ERROR) return undefined;
  const { sequence, body } = message;
  if (body.length < 4) return { sequence, errno: EBADMSG, detail: 'truncated response' };
  const errno = -body.readInt32LE(0);
  if ((message.flags & NLM_F_ACK_TLVS) === 0) return { sequence, errno };
  const capped = (message.flags & NLM_F_CAPPED) !== 0 || errno === 0 || body.length < 8;
  const original = capped ? MESSAGE_HEADER_BYTES : body.readUInt32LE(4);
  const attributes = readAttributes(body.subarray(4 + Math.ceil(original / 4) * 4));
  const detail = attributes.get(NLMSGERR_ATTR_MSG);
  const offset = numberOf(attributes.get(NLMSGERR_ATTR_OFFS));
  return {
    sequence,
    errno,
    ...(detail ? { detail: textOf(detail) } : {}),
    ...(offset === undefined ? {} : { offset }),
  };
}

/**
 * Sends a request that is answered with many messages. `consistent` is false when the data changed
 * during the dump: then entries may be missing or come twice.
 */
export async function dump(
  netlink: Netlink,
  question: { readonly bytes: Buffer; readonly what: string },
  onMessage: (message: NetlinkMessage) => void,
): Promise<{ consistent: boolean }> {
  await netlink.send(question.bytes);
  const sequence = question.bytes.readUInt32LE(8);
  let consistent = true;
  for (;;) {
    for (const message of await nextMessages(netlink, question.what)) {
      if (message.sequence !== sequence) continue;
      if ((message.flags & NLM_F_DUMP_INTR) !== 0) consistent = false;
      const rejected = rejection(message);
      if (rejected) throw new NetlinkRejection(question.what, rejected);
      if (message.type === NLMSG_DONE) return { consistent };
      onMessage(message);
    }
    // The kernel fills the next answer inside the next receive: others want the loop in between.
    await nextTurn();
  }
}

/** Sends one message with a request for an acknowledgement; returns the messages before it. */
export async function request(
  netlink: Netlink,
  question: { readonly bytes: Buffer; readonly what: string },
  onMessage?: (message: NetlinkMessage) => void,
): Promise<void> {
  await netlink.send(question.bytes);
  const sequence = question.bytes.readUInt32LE(8);
  for (;;) {
    for (const message of await nextMessages(netlink, question.what)) {
      if (message.sequence !== sequence) continue;
      const acknowledged = readAcknowledgement(message);
      if (acknowledged === undefined) onMessage?.(message);
      else if (acknowledged.errno === 0) return;
      else throw new NetlinkRejection(question.what, acknowledged);
    }
  }
}

/** An error, or the end of a dump that carries one. */
function rejection(message: NetlinkMessage): Acknowledgement | undefined {
  if (message.type === NLMSG_DONE) {
    const errno = message.body.length >= 4 ? -message.body.readInt32LE(0) : 0;
    return errno > 0 ? { sequence: message.sequence, errno } : undefined;
  }
  const acknowledged = readAcknowledgement(message);
  return acknowledged && acknowledged.errno !== 0 ? acknowledged : undefined;
}

export async function nextMessages(
  netlink: Netlink,
  what: string,
): Promise<Iterable<NetlinkMessage>> {
  for (let attempt = 0; attempt < MOST_EMPTY_READS; attempt++) {
    const messages = netlink.receive();
    if (messages !== undefined) return messages;
    await nextTurn();
  }
  throw new NetlinkError(what, { errno: ETIMEDOUT, detail: 'no response from the kernel' });
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
