import { nextMessages, readAcknowledgement } from '../../netlink/netlink-exchange.ts';
import { openNetlink } from '../../netlink/netlink-socket.ts';
import { NetlinkWriter } from '../../netlink/netlink-writer.ts';
import { addressBytes } from '../address-bytes.ts';
import * as ct from '../conntrack-protocol.ts';
import { writeTuple } from '../encode-removal.ts';
import type { Flow, FlowTuple } from '../flow.ts';
import { writeFamily } from '../question.ts';

const NLM_F_EXCL = 0x200;
const NLM_F_CREATE = 0x400;
const STATUS_CONFIRMED_SEEN_ASSURED = 0xe;
const STATUS_CONFIRMED = 0x8;
const AT_ONCE = 100;
const TIMEOUT_SECONDS = 3600;
/** Half of what the kernel gives a SYN: it has been silent for a minute. */
const TRY_TIMEOUT_SECONDS = 60;
const TCP_ESTABLISHED = 3;

export type NewFlow = Pick<Flow, 'version' | 'protocol' | 'original' | 'reply'> & {
  /** A TCP connection that has seen only a SYN. */
  readonly isTry?: boolean;
  /** In place of an hour. */
  readonly timeoutSeconds?: number;
};

/** A flow from the client to the destination whose answers come from `answeredBy`. */
export function newFlow(about: {
  readonly protocol: number;
  readonly client: readonly [address: string, port: number];
  readonly destination: readonly [address: string, port: number];
  readonly answeredBy: readonly [address: string, port: number];
}): NewFlow {
  const { protocol, client, destination, answeredBy } = about;
  return {
    version: client[0].includes(':') ? 6 : 4,
    protocol,
    original: tuple(client, destination),
    reply: tuple(answeredBy, client),
  };
}

function tuple(from: readonly [string, number], to: readonly [string, number]): FlowTuple {
  const bytes = (text: string): string => {
    const address = addressBytes(text);
    if (address === undefined) throw new Error(`no address: ${text}`);
    return address;
  };
  return {
    source: bytes(from[0]),
    destination: bytes(to[0]),
    sourcePort: from[1],
    destinationPort: to[1],
  };
}

/** Inserts flows into the kernel as if packets had created them: 100,000 in a second. */
export async function insertFlows(flows: Iterable<NewFlow>): Promise<number> {
  using netlink = openNetlink({ protocol: ct.NETLINK_NETFILTER });
  const writer = new NetlinkWriter();
  let [count, waiting] = [0, 0];
  const flush = async () => {
    if (waiting === 0) return;
    await netlink.send(writer.bytes);
    writer.clear();
    while (waiting > 0) {
      for (const message of await nextMessages(netlink, 'insert')) {
        waiting--;
        const errno = readAcknowledgement(message)?.errno;
        if (errno !== 0) throw new Error(`insert: errno ${errno}`);
      }
    }
  };
  for (const flow of flows) {
    writeInsert(writer, flow, ++count);
    if (++waiting === AT_ONCE) await flush();
  }
  await flush();
  return count;
}

function writeInsert(writer: NetlinkWriter, flow: NewFlow, sequence: number): void {
  const flags = ct.NLM_F_REQUEST | ct.NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL;
  const message = writer.beginMessage({ type: ct.MESSAGE_NEW, flags, sequence });
  writeFamily(writer, flow.version);
  writeTuple(writer, flow, 'original');
  writeTuple(writer, flow, 'reply');
  const timeoutSeconds = flow.isTry ? TRY_TIMEOUT_SECONDS : TIMEOUT_SECONDS;
  writer.u32be(ct.CTA_TIMEOUT, flow.timeoutSeconds ?? timeoutSeconds);
  writer.u32be(ct.CTA_STATUS, flow.isTry ? STATUS_CONFIRMED : STATUS_CONFIRMED_SEEN_ASSURED);
  if (flow.protocol === ct.PROTOCOL_TCP) {
    const info = writer.beginNested(ct.CTA_PROTOINFO);
    const tcp = writer.beginNested(ct.CTA_PROTOINFO_TCP);
    writer.u8(ct.CTA_PROTOINFO_TCP_STATE, flow.isTry ? ct.TCP_SYN_SENT : TCP_ESTABLISHED);
    writer.endNested(tcp);
    writer.endNested(info);
  }
  writer.endMessage(message);
}
