import { constants } from 'node:os';
import * as ct from '../conntrack/conntrack-protocol.ts';
import { writeTuple } from '../conntrack/encode-removal.ts';
import type { Flow } from '../conntrack/flow.ts';
import { writeFamily } from '../conntrack/question.ts';
import { NetlinkError } from '../netlink/netlink-error.ts';
import { nextMessages, readAcknowledgement } from '../netlink/netlink-exchange.ts';
import { openNetlink } from '../netlink/netlink-socket.ts';
import { NetlinkWriter } from '../netlink/netlink-writer.ts';

const { ENOENT } = constants.errno;
/** Their answers fit the socket. */
const AT_ONCE = 64;

/** Sets bits of the connection mark of these flows. Returns how many there still were. */
export async function markFlows(flows: readonly Flow[], bits: number): Promise<number> {
  const what = 'set the mark of a conntrack entry';
  let marked = 0;
  if (flows.length === 0) return marked;
  using netlink = openNetlink({ protocol: ct.NETLINK_NETFILTER });
  for (let from = 0; from < flows.length; from += AT_ONCE) {
    const batch = flows.slice(from, from + AT_ONCE);
    const writer = new NetlinkWriter();
    batch.forEach((flow, index) => {
      writeMark(writer, flow, { bits, sequence: from + index + 1 });
    });
    await netlink.send(writer.bytes);
    for (let answered = 0; answered < batch.length; ) {
      for (const message of await nextMessages(netlink, what)) {
        const answer = readAcknowledgement(message);
        if (answer === undefined) continue;
        answered++;
        if (answer.errno === 0) marked++;
        else if (answer.errno !== ENOENT) throw new NetlinkError(what, answer);
      }
    }
  }
  return marked;
}

/** The message that would create a flow changes one that is there. */
function writeMark(
  writer: NetlinkWriter,
  flow: Flow,
  mark: { readonly bits: number; readonly sequence: number },
): void {
  const flags = ct.NLM_F_REQUEST | ct.NLM_F_ACK;
  const { sequence } = mark;
  const message = writer.beginMessage({ type: ct.MESSAGE_NEW, flags, sequence });
  writeFamily(writer, flow.version);
  writeTuple(writer, flow, 'original');
  writer.u32be(ct.CTA_MARK, mark.bits);
  writer.u32be(ct.CTA_MARK_MASK, mark.bits);
  if (flow.zone !== 0) writer.u16be(ct.CTA_ZONE, flow.zone);
  writer.endMessage(message);
}
