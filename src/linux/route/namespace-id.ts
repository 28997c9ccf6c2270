import { closeSync, openSync } from 'node:fs';
import { request } from '../netlink/netlink-exchange.ts';
import type { Netlink } from '../netlink/netlink-socket.ts';
import { NetlinkWriter } from '../netlink/netlink-writer.ts';
import { readAttributes } from '../netlink/reader.ts';
import { NLM_F_ACK, NLM_F_REQUEST } from './route-protocol.ts';

const RTM_NEWNSID = 88;
const RTM_GETNSID = 90;
const NETNSA_NSID = 1;
const NETNSA_FD = 3;
const FIXED_BYTES = 4;
const NOT_ASSIGNED = -1;

/**
 * Whether our network namespace knows this one, by a pair of interfaces for example. The kernel
 * numbers those when interfaces are listed: list them before.
 */
export async function isLinkedNamespace(netlink: Netlink, path: string): Promise<boolean> {
  const fd = openSync(path, 'r');
  try {
    const writer = new NetlinkWriter();
    const flags = NLM_F_REQUEST | NLM_F_ACK;
    const message = writer.beginMessage({ type: RTM_GETNSID, flags, sequence: 1 });
    writer.raw(new Uint8Array(FIXED_BYTES));
    writer.u32le(NETNSA_FD, fd);
    writer.endMessage(message);
    let id = NOT_ASSIGNED;
    const what = 'ask for the number of a network namespace';
    await request(netlink, { bytes: writer.bytes, what }, ({ type, body }) => {
      if (type !== RTM_NEWNSID) return;
      const found = readAttributes(body.subarray(FIXED_BYTES)).get(NETNSA_NSID);
      id = found !== undefined && found.length >= 4 ? found.readInt32LE(0) : NOT_ASSIGNED;
    });
    return id !== NOT_ASSIGNED;
  } finally {
    closeSync(fd);
  }
}
