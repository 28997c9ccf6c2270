/** Run as root of a user namespace: what a netlink socket does without rights over the machine. */

import { NetlinkError } from '../netlink-error.ts';
import { request } from '../netlink-exchange.ts';
import { openNetlink } from '../netlink-socket.ts';
import { NetlinkWriter } from '../netlink-writer.ts';

const NETLINK_ROUTE = 0;
const RTNLGRP_LINK = 1;
const REQUEST_AND_ACK = 0x5;
const PART_BYTES = 30_000;

/** Of a type that no kernel knows: rejected with ENOTSUP (EOPNOTSUPP) once it has arrived whole. */
async function codeOfUnknownMessage(parts: number): Promise<string> {
  using netlink = openNetlink({
    protocol: NETLINK_ROUTE,
    groups: [RTNLGRP_LINK],
    receiveBufferBytes: 8 * 1024 * 1024,
  });
  const writer = new NetlinkWriter();
  const message = writer.beginMessage({ type: 0xfff, flags: REQUEST_AND_ACK, sequence: 9 });
  for (let part = 0; part < parts; part++) writer.raw(new Uint8Array(PART_BYTES));
  writer.endMessage(message);
  try {
    await request(netlink, { bytes: writer.bytes, what: 'send an unknown message' });
    return 'accepted';
  } catch (error) {
    if (error instanceof NetlinkError) return `${error.code} ${error.detail ?? ''}`.trim();
    throw error;
  }
}

const parts = process.argv.slice(2).map(Number);
const codes: string[] = [];
for (const count of parts) codes.push(await codeOfUnknownMessage(count));
process.stdout.write(JSON.stringify(codes));
