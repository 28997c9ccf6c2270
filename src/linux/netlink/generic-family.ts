import { constants } from 'node:os';
import { NetlinkRejection } from './netlink-error.ts';
import { request } from './netlink-exchange.ts';
import type { Netlink } from './netlink-socket.ts';
import { NetlinkWriter } from './netlink-writer.ts';
import { findAttribute } from './reader.ts';

/** Numbers of linux/netlink.h and linux/genetlink.h that we use. */
export const NETLINK_GENERIC = 16;
export const GENL_HEADER_BYTES = 4;
const NLM_F_REQUEST_ACK = 1 | 4;
const GENL_ID_CTRL = 16;
const CTRL_CMD_GETFAMILY = 3;
const CTRL_ATTR_FAMILY_ID = 1;
const CTRL_ATTR_FAMILY_NAME = 2;

const { ENOENT } = constants.errno;

/**
 * The number of a family of generic netlink, such as IPVS, which changes when its module is loaded
 * again. The question also loads the module where there is one. Undefined: the kernel has no such family.
 */
export async function genericFamily(netlink: Netlink, name: string): Promise<number | undefined> {
  const writer = new NetlinkWriter();
  const header = { type: GENL_ID_CTRL, flags: NLM_F_REQUEST_ACK, sequence: 1 };
  const message = writer.beginMessage(header);
  writer.raw(Uint8Array.of(CTRL_CMD_GETFAMILY, 1, 0, 0));
  writer.text(CTRL_ATTR_FAMILY_NAME, name);
  writer.endMessage(message);
  let family: number | undefined;
  try {
    const question = { bytes: writer.bytes, what: `find the netlink family ${name}` };
    await request(netlink, question, ({ body }) => {
      const attributes = body.subarray(GENL_HEADER_BYTES);
      family = findAttribute(attributes, CTRL_ATTR_FAMILY_ID)?.readUInt16LE(0);
    });
  } catch (error) {
    if (!(error instanceof NetlinkRejection) || error.errno !== ENOENT) throw error;
  }
  return family;
}
