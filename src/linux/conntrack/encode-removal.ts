import type { NetlinkWriter } from '../netlink/netlink-writer.ts';
import * as ct from './conntrack-protocol.ts';
import type { Flow, FlowTuple } from './flow.ts';
import { writeFamily } from './question.ts';

/**
 * Deletes exactly this flow. The kernel derives the id from the original tuple and a memory
 * address, so a new flow may get the id of its predecessor with another translation. Matching reply
 * tuple and id identifies it.
 */
export function writeRemoval(writer: NetlinkWriter, flow: Flow, sequence: number): void {
  const flags = ct.NLM_F_REQUEST | ct.NLM_F_ACK;
  const message = writer.beginMessage({ type: ct.MESSAGE_DELETE, flags, sequence });
  writeFamily(writer, flow.version);
  writeTuple(writer, flow, 'reply');
  writer.u32be(ct.CTA_ID, flow.id);
  if (flow.zone !== 0) writer.u16be(ct.CTA_ZONE, flow.zone);
  writer.endMessage(message);
}

export function writeTuple(
  writer: NetlinkWriter,
  flow: Pick<Flow, 'version' | 'protocol' | 'original' | 'reply'>,
  direction: 'original' | 'reply',
): void {
  const tuple: FlowTuple = flow[direction];
  const [source, destination] =
    flow.version === 4
      ? [ct.CTA_IP_V4_SRC, ct.CTA_IP_V4_DST]
      : [ct.CTA_IP_V6_SRC, ct.CTA_IP_V6_DST];
  const nest = direction === 'original' ? ct.CTA_TUPLE_ORIG : ct.CTA_TUPLE_REPLY;
  const begun = writer.beginNested(nest);
  const addresses = writer.beginNested(ct.CTA_TUPLE_IP);
  writer.binary(source, tuple.source);
  writer.binary(destination, tuple.destination);
  writer.endNested(addresses);
  const ports = writer.beginNested(ct.CTA_TUPLE_PROTO);
  writer.u8(ct.CTA_PROTO_NUM, flow.protocol);
  writer.u16be(ct.CTA_PROTO_SRC_PORT, tuple.sourcePort);
  writer.u16be(ct.CTA_PROTO_DST_PORT, tuple.destinationPort);
  writer.endNested(ports);
  writer.endNested(begun);
}
