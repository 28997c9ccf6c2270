import { constants } from 'node:os';
import { NetlinkRejection } from '../netlink/netlink-error.ts';
import { request } from '../netlink/netlink-exchange.ts';
import type { Netlink } from '../netlink/netlink-socket.ts';
import { NetlinkWriter } from '../netlink/netlink-writer.ts';
import { type NetlinkMessage, readAttributes } from '../netlink/reader.ts';

const SUBSYSTEM = 7 << 8;
const MESSAGE_NEW = SUBSYSTEM;
const MESSAGE_GET = SUBSYSTEM | 1;
const NFACCT_NAME = 1;
const NFACCT_PKTS = 2;
const NLM_F_REQUEST = 1;
const NLM_F_ACK = 4;
const NLM_F_CREATE = 0x400;
const NLM_F_EXCL = 0x200;
const { EEXIST } = constants.errno;
const HEADER = new Uint8Array([0, 0, 0, 0]);

/** Creates a counter that rules can name (`-m nfacct`); returns whether this kernel has it now. */
export async function ensureAccount(netlink: Netlink, name: string): Promise<boolean> {
  const flags = NLM_F_CREATE | NLM_F_EXCL;
  const errno = await ask(netlink, { type: MESSAGE_NEW, flags, name });
  return errno === 0 || errno === EEXIST;
}

export async function hasAccount(netlink: Netlink, name: string): Promise<boolean> {
  return (await ask(netlink, { type: MESSAGE_GET, flags: 0, name })) === 0;
}

/** Packets that rules have counted with it; undefined: this kernel has no such counter. */
export async function readAccount(netlink: Netlink, name: string): Promise<number | undefined> {
  let packets: number | undefined;
  await ask(netlink, { type: MESSAGE_GET, flags: 0, name }, ({ body }) => {
    const value = readAttributes(body.subarray(HEADER.length)).get(NFACCT_PKTS);
    if (value) packets = Number(value.readBigUInt64BE(0));
  });
  return packets;
}

/** Gives the errno. */
async function ask(
  netlink: Netlink,
  wanted: { readonly type: number; readonly flags: number; readonly name: string },
  onMessage?: (message: NetlinkMessage) => void,
): Promise<number> {
  const writer = new NetlinkWriter();
  const flags = NLM_F_REQUEST | NLM_F_ACK | wanted.flags;
  const message = writer.beginMessage({ type: wanted.type, flags, sequence: 1 });
  writer.raw(HEADER);
  writer.text(NFACCT_NAME, wanted.name);
  writer.endMessage(message);
  try {
    const question = { bytes: writer.bytes, what: `read the nfacct counter ${wanted.name}` };
    await request(netlink, question, onMessage);
    return 0;
  } catch (error) {
    // Without the module the kernel rejects this; rules then have no counter. A lost response does
    // not mean that, and must not cause a rewrite of every such rule.
    if (error instanceof NetlinkRejection) return error.errno;
    throw error;
  }
}
