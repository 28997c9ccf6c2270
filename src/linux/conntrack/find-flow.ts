import { constants } from 'node:os';
import { NetlinkRejection } from '../netlink/netlink-error.ts';
import { request } from '../netlink/netlink-exchange.ts';
import { openNetlink } from '../netlink/netlink-socket.ts';
import { NetlinkWriter } from '../netlink/netlink-writer.ts';
import { addressBytes } from './address-bytes.ts';
import * as ct from './conntrack-protocol.ts';
import { writeTuple } from './encode-removal.ts';
import { decodeFlow, type Flow } from './flow.ts';
import { writeFamily } from './question.ts';

const SEQUENCE = 1;
const { ENOENT } = constants.errno;

/** The first packet of a connection, as the client sent it. */
export interface SentPacket {
  readonly protocol: number;
  readonly source: string;
  readonly sourcePort: number;
  readonly destination: string;
  readonly destinationPort: number;
}

/** The entry of one connection, without a scan of the table; undefined: there is none. */
export async function findFlow(first: SentPacket): Promise<Flow | undefined> {
  using netlink = openNetlink({ protocol: ct.NETLINK_NETFILTER });
  const found: Flow[] = [];
  try {
    await request(netlink, question(first), ({ body }) => {
      const flow = decodeFlow(body);
      if (flow) found.push(flow);
    });
  } catch (error) {
    if (error instanceof NetlinkRejection && error.errno === ENOENT) return undefined;
    throw error;
  }
  return found[0];
}

function question(first: SentPacket): { readonly bytes: Buffer; readonly what: string } {
  const [source, destination] = [addressBytes(first.source), addressBytes(first.destination)];
  if (source === undefined || destination === undefined) {
    throw new RangeError(`${first.source} or ${first.destination} is not an IP address`);
  }
  const { protocol, sourcePort, destinationPort } = first;
  const original = { source, destination, sourcePort, destinationPort };
  const version = source.length === 4 ? 4 : 6;
  const writer = new NetlinkWriter();
  const flags = ct.NLM_F_REQUEST | ct.NLM_F_ACK;
  const message = writer.beginMessage({ type: ct.MESSAGE_GET, flags, sequence: SEQUENCE });
  writeFamily(writer, version);
  writeTuple(writer, { version, protocol, original, reply: original }, 'original');
  writer.endMessage(message);
  return { bytes: writer.bytes, what: 'read a conntrack entry' };
}
