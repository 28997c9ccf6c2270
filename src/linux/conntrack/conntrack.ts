import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { NetlinkError } from '../netlink/netlink-error.ts';
import { nextMessages, readAcknowledgement } from '../netlink/netlink-exchange.ts';
import { type Netlink, openNetlink } from '../netlink/netlink-socket.ts';
import { NetlinkWriter } from '../netlink/netlink-writer.ts';
import * as ct from './conntrack-protocol.ts';
import { NETLINK_NETFILTER } from './conntrack-protocol.ts';
import { writeRemoval } from './encode-removal.ts';
import { decodeFlow, type Flow } from './flow.ts';
import { type FlowQuestion, passesFilter, writeQuestion } from './question.ts';
import { threadedDump } from './threaded-dump.ts';

const { ENOENT } = constants.errno;
const SEQUENCE = 1;
const COUNT_PATH = '/proc/sys/net/netfilter/nf_conntrack_count';
/**
 * While its filter matches nothing, the kernel scans on inside one call, and many kernels cannot be
 * interrupted there: 200,000 flows block a processor for 50 ms, and this process with it if it
 * waits on that one. Without a filter the kernel returns after every 170 flows.
 */
const MOST_WALKED_AT_ONCE = 20_000;
/** A million flows take two seconds; a dump that takes this long does not end. */
const DUMP_DEADLINE_MS = 60_000;
/** So many take the kernel a fraction of a millisecond, and their answers fit the socket. */
const REMOVALS_AT_ONCE = 64;

/** The conntrack table of one network namespace. */
export interface Conntrack {
  /** Whether a question with a filter is worth asking. */
  filtersCheaply(): boolean;
  /**
   * Yields the matching flows in batches; flows that change meanwhile may or may not be included.
   */
  flows(question: FlowQuestion, signal: AbortSignal): AsyncIterable<readonly Flow[]>;
  /** Returns the flows that it deleted; the others were gone already. */
  remove(flows: readonly Flow[]): Promise<readonly Flow[]>;
}

/** The table of the network namespace of the calling thread. Keeps nothing open between calls. */
export class KernelConntrack implements Conntrack {
  #filtersInKernel = true;

  filtersCheaply(): boolean {
    return this.#filtersInKernel && flowCount() < MOST_WALKED_AT_ONCE;
  }

  async *flows(question: FlowQuestion, signal: AbortSignal): AsyncGenerator<readonly Flow[]> {
    const { filter } = question;
    const writer = new NetlinkWriter();
    writeQuestion(writer, filter, SEQUENCE);
    const dump = threadedDump({
      protocol: NETLINK_NETFILTER,
      bytes: writer.bytes,
      what: 'list conntrack entries',
      deadlineMs: DUMP_DEADLINE_MS,
      signal,
    });
    for await (const messages of dump) {
      const flows: Flow[] = [];
      for (const { body } of messages) {
        const flow = mayBeAskedFor(body, question) ? decodeFlow(body) : undefined;
        if (flow) flows.push(flow);
        // Kernels before 5.8 silently ignore the filter.
        if (filter && !(flow && passesFilter(filter, flow))) this.#filtersInKernel = false;
      }
      if (flows.length > 0) yield flows;
    }
  }

  async remove(flows: readonly Flow[]): Promise<readonly Flow[]> {
    const removed: Flow[] = [];
    if (flows.length === 0) return removed;
    using netlink = openNetlink({ protocol: NETLINK_NETFILTER });
    for (let from = 0; from < flows.length; from += REMOVALS_AT_ONCE) {
      const batch = flows.slice(from, from + REMOVALS_AT_ONCE);
      for (const flow of await removeAtOnce(netlink, batch)) removed.push(flow);
      await nextTurn();
    }
    return removed;
  }
}

/** The kernel answers each message by itself: one that fails does not hold up the next. */
async function removeAtOnce(netlink: Netlink, flows: readonly Flow[]): Promise<Flow[]> {
  const what = 'delete a conntrack entry';
  const writer = new NetlinkWriter();
  flows.forEach((flow, index) => {
    writeRemoval(writer, flow, index + 1);
  });
  await netlink.send(writer.bytes);
  const removed: Flow[] = [];
  let rejected: NetlinkError | undefined;
  for (let answered = 0; answered < flows.length; ) {
    for (const message of await nextMessages(netlink, what)) {
      const answer = readAcknowledgement(message);
      const flow = flows[message.sequence - 1];
      if (answer === undefined || flow === undefined) continue;
      answered++;
      if (answer.errno === 0) removed.push(flow);
      else if (answer.errno !== ENOENT) rejected ??= new NetlinkError(what, answer);
    }
  }
  if (rejected) throw rejected;
  return removed;
}

/** Read synchronously, because /proc/sys/net shows the network of the thread that opens it. */
function flowCount(): number {
  return Number(readFileSync(COUNT_PATH, 'utf8'));
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

const TYPE_MASK = 0x3fff;
/**
 * Where the kernel puts protocol and destination port of the original tuple, in each family, and
 * the status behind the reply tuple.
 */
const PLACES_V4 = { tuple: 4, ports: 28, protocol: 32, destinationPort: 48, end: 56, status: 108 };
const PLACES_V6 = { tuple: 4, ports: 52, protocol: 56, destinationPort: 72, end: 80, status: 156 };

/**
 * Whether a message may be about a requested flow, without decoding all of it: of 200,000 flows
 * nearly all are not. False only if that is certain; an unusual layout counts as a possible match.
 */
export function mayBeAskedFor(body: Buffer, question: FlowQuestion): boolean {
  const places = body[0] === ct.AF_INET ? PLACES_V4 : PLACES_V6;
  if (
    body.length < places.end ||
    typeAt(body, places.tuple) !== ct.CTA_TUPLE_ORIG ||
    typeAt(body, places.ports) !== ct.CTA_TUPLE_PROTO ||
    typeAt(body, places.protocol) !== ct.CTA_PROTO_NUM ||
    typeAt(body, places.destinationPort) !== ct.CTA_PROTO_DST_PORT
  ) {
    return true;
  }
  const protocol = body.readUInt8(places.protocol + 4);
  return (
    question.protocols.has(protocol) &&
    question.destinationPorts.has(body.readUInt16BE(places.destinationPort + 4)) &&
    !(question.unansweredTcpOnly && protocol === ct.PROTOCOL_TCP && isAnswered(body, places.status))
  );
}

function isAnswered(body: Buffer, statusAt: number): boolean {
  if (body.length < statusAt + 8 || typeAt(body, statusAt) !== ct.CTA_STATUS) return false;
  return (body.readUInt32BE(statusAt + 4) & ct.STATUS_SEEN_REPLY) !== 0;
}

function typeAt(body: Buffer, at: number): number {
  return body.readUInt16LE(at + 2) & TYPE_MASK;
}
