import { dump } from '../netlink/netlink-exchange.ts';
import { type Netlink, openNetlink } from '../netlink/netlink-socket.ts';
import { NetlinkWriter } from '../netlink/netlink-writer.ts';
import { findAttribute, type NetlinkMessage } from '../netlink/reader.ts';
import { type BoundSocket, boundSockets } from './bound-socket.ts';

const NETLINK_SOCK_DIAG = 4;
const SOCK_DIAG_BY_FAMILY = 20;
const NLM_F_REQUEST = 0x1;
const NLM_F_DUMP = 0x300;
const AF_INET = 2;
const AF_INET6 = 10;
const IPPROTO_TCP = 6;
const TCP_LISTEN = 10;
const REQUEST_BYTES = 56;
/** struct inet_diag_msg: four bytes, the socket's id, then five numbers. */
const ANSWER_BYTES = 72;
const SOURCE_PORT_AT = 4;
const SOURCE_ADDRESS_AT = 8;
const QUEUE_AT = 56;
const BACKLOG_AT = 60;
const INODE_AT = 68;
const INET_DIAG_SKV6ONLY = 11;

type OpenNetlink = (options: { protocol: number }) => Netlink;

/** Every TCP socket that listens in the network namespace of the process. */
export async function tcpListeners(open: OpenNetlink = openNetlink): Promise<BoundSocket[]> {
  const found: BoundSocket[] = [];
  await eachListener(open, (message) => found.push(...readListener(message)));
  return found;
}

/** Connections that wait to be accepted. */
export interface AcceptQueue {
  readonly length: number;
  /** The backlog: when more wait, the kernel drops new ones. */
  readonly limit: number;
}

/** The fullest one of the sockets that listen at the port; undefined: none does. */
export async function acceptQueueAt(
  port: number,
  open: OpenNetlink,
): Promise<AcceptQueue | undefined> {
  const found: AcceptQueue[] = [];
  await eachListener(open, ({ body }) => {
    if (body.length < ANSWER_BYTES || body.readUInt16BE(SOURCE_PORT_AT) !== port) return;
    found.push({ length: body.readUInt32LE(QUEUE_AT), limit: body.readUInt32LE(BACKLOG_AT) });
  });
  return found.sort((a, b) => b.length - b.limit - (a.length - a.limit))[0];
}

async function eachListener(open: OpenNetlink, onEach: (message: NetlinkMessage) => void) {
  using netlink = open({ protocol: NETLINK_SOCK_DIAG });
  let sequence = 0;
  for (const family of [AF_INET, AF_INET6]) {
    const bytes = question(family, ++sequence);
    await dump(netlink, { bytes, what: 'list listening TCP sockets' }, onEach);
  }
}

function question(family: number, sequence: number): Buffer {
  const writer = new NetlinkWriter();
  const flags = NLM_F_REQUEST | NLM_F_DUMP;
  const message = writer.beginMessage({ type: SOCK_DIAG_BY_FAMILY, flags, sequence });
  const request = Buffer.alloc(REQUEST_BYTES);
  request.writeUInt8(family, 0);
  request.writeUInt8(IPPROTO_TCP, 1);
  // Only those that listen: a busy node has a hundred thousand others.
  request.writeUInt32LE(1 << TCP_LISTEN, 4);
  writer.raw(request);
  writer.endMessage(message);
  return Buffer.from(writer.bytes);
}

function readListener({ body }: NetlinkMessage): BoundSocket[] {
  if (body.length < ANSWER_BYTES) return [];
  const end = SOURCE_ADDRESS_AT + (body.readUInt8(0) === AF_INET ? 4 : 16);
  const ipv6Only = findAttribute(body.subarray(ANSWER_BYTES), INET_DIAG_SKV6ONLY)?.[0] === 1;
  return boundSockets({
    protocol: 'TCP',
    address: Uint8Array.from(body.subarray(SOURCE_ADDRESS_AT, end)),
    port: body.readUInt16BE(SOURCE_PORT_AT),
    inode: body.readUInt32LE(INODE_AT),
    ipv6Only,
  });
}
