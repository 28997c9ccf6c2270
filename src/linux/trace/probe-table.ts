import { parseIp } from '../../addresses/ip.ts';
import { PROTOCOL_TCP } from '../conntrack/conntrack-protocol.ts';
import type { NftBatch } from '../nftables/batch.ts';
import {
  bitwise,
  compare,
  type Expression,
  loadCtDirection,
  loadDestinationAddress,
  loadDestinationPort,
  loadL4Protocol,
  loadOriginal,
  loadOutInterfaceName,
  loadSourceAddress,
  loadSourcePort,
  loadTcpFlags,
  traceFromHere,
  verdict,
} from '../nftables/expressions.ts';
import type { BaseHook, TableRef } from '../nftables/nft-objects.ts';
import type { TableFamily } from '../nftables/nftables-protocol.ts';
import type { Binary } from '../nftables/userdata.ts';

export const PROBE_TABLE_NAME = 'fairlead-probe';
const COMMENT = 'traces one packet of fairlead explain; it goes with the process that made it';
/** Before everything that other programs usually have. */
const FIRST = -500;
/** Conntrack has its entry at -200. */
const AFTER_CONNTRACK = -190;
/** Conntrack confirms its entry at the largest number: a packet dropped here leaves none. */
const LAST = 0x7fff_fffe;
const SYN = '\x02';
const RST = '\x04';
const SYN_AND_ACK = '\x12';
const ICMP = '\x01';
const ICMPV6 = '\x3a';
const ORIGINAL_DIRECTION = '\x00';
const INTERFACE_NAME_BYTES = 16;
/** What leaves by loopback comes in again, and meets more rules. */
const NOT_BY_LOOPBACK: readonly Expression[] = [
  loadOutInterfaceName(0),
  compare(0, 'different', 'lo'.padEnd(INTERFACE_NAME_BYTES, '\0')),
];

/**
 * The packets that are traced, by the fields of the first packet of their connection; what is missing
 * is not compared. A probe's socket holds its source port, so that no other connection matches.
 */
export interface TracedFlow {
  readonly family: TableFamily;
  readonly protocol: number;
  readonly source?: string;
  readonly sourcePort?: number;
  readonly destination?: string;
  readonly destinationPort?: number;
}

/** Chains that report how the packet looks after all other rules. */
export const LAST_CHAINS = { leaves: 'leaves', arrives: 'arrives' } as const;

function probeTable(family: TableFamily): TableRef {
  return { family, name: PROBE_TABLE_NAME };
}

interface TracedPackets {
  readonly stopsAtEnd: boolean;
  readonly firstPacketsOnly?: boolean;
}

/**
 * Writes the table. `stopsAtEnd`: the packet is dropped after all rules, before it is sent or
 * delivered. Only in the original direction, or our own rejections would be dropped too.
 */
export function writeProbeTable(
  batch: NftBatch,
  flow: TracedFlow,
  { stopsAtEnd, firstPacketsOnly = false }: TracedPackets,
): void {
  const table = probeTable(flow.family);
  batch.own('the probe');
  batch.addOwnedTable(table, COMMENT);
  const chain = (
    name: string,
    base: Omit<BaseHook, 'type'>,
    expressions: readonly Expression[],
  ): void => {
    batch.addChain(table, { name, base: { type: 'filter', ...base } });
    if (expressions.length > 0) batch.addRule(table, { chain: name, expressions, fingerprint: '' });
  };
  const first = firstPacketsOnly ? matchFirst(flow) : [];
  const rejection = firstPacketsOnly ? matchRejection(flow) : [];
  const byPacket = [...matchPacket(flow), ...first, ...traceFromHere()];
  const byConnection = [...matchConnection(flow), ...rejection, ...traceFromHere()];
  const outwards = [
    ...matchConnection(flow),
    loadCtDirection(0),
    compare(0, 'equal', ORIGINAL_DIRECTION),
  ];
  // The same again, so that the end of the way is known to be that of our packet.
  const still = firstPacketsOnly ? [] : [...outwards, ...traceFromHere()];
  const atEnd = (...more: readonly Expression[]): readonly Expression[] =>
    stopsAtEnd ? [...outwards, ...more, verdict('drop')] : still;
  chain('comes', { hook: 'prerouting', priority: FIRST }, byPacket);
  chain('begins', { hook: 'output', priority: FIRST }, byPacket);
  if (!firstPacketsOnly) {
    chain('continues', { hook: 'prerouting', priority: AFTER_CONNTRACK }, byConnection);
    // Where a bridge passes it on, its trace bit or its id is another one.
    chain('passes', { hook: 'forward', priority: FIRST }, byConnection);
  }
  chain('answers', { hook: 'output', priority: AFTER_CONNTRACK }, byConnection);
  chain(LAST_CHAINS.leaves, { hook: 'postrouting', priority: LAST }, atEnd(...NOT_BY_LOOPBACK));
  chain(LAST_CHAINS.arrives, { hook: 'input', priority: LAST }, atEnd());
}

/** A SYN without ACK. */
function matchFirst({ protocol }: TracedFlow): readonly Expression[] {
  return protocol === PROTOCOL_TCP ? matchTcpFlags(SYN_AND_ACK, SYN) : [];
}

/** A reset, or an ICMP error, which belongs to the conntrack entry of the rejected packet. */
function matchRejection({ protocol, family }: TracedFlow): readonly Expression[] {
  if (protocol === PROTOCOL_TCP) return matchTcpFlags(RST, RST);
  return [loadL4Protocol(0), compare(0, 'equal', family === 'ip' ? ICMP : ICMPV6)];
}

function matchTcpFlags(mask: Binary, value: Binary): readonly Expression[] {
  return [loadTcpFlags(0), bitwise(0, { mask, xor: '\x00' }), compare(0, 'equal', value)];
}

function matchPacket(flow: TracedFlow): readonly Expression[] {
  return matches(flow, {
    protocol: loadL4Protocol(0),
    source: loadSourceAddress(flow.family, 0),
    sourcePort: loadSourcePort(0),
    destination: loadDestinationAddress(flow.family, 0),
    destinationPort: loadDestinationPort(0),
  });
}

/** Answers too, and the packet after its addresses were translated. */
function matchConnection(flow: TracedFlow): readonly Expression[] {
  return matches(flow, {
    protocol: loadOriginal('protocol', 0),
    source: loadOriginal('source', 0),
    sourcePort: loadOriginal('sourcePort', 0),
    destination: loadOriginal('destination', 0),
    destinationPort: loadOriginal('destinationPort', 0),
  });
}

type Compared = Exclude<keyof TracedFlow, 'family'>;

function matches(
  flow: TracedFlow,
  load: Readonly<Record<Compared, Expression>>,
): readonly Expression[] {
  const { source, sourcePort, destination, destinationPort } = flow;
  const one = (field: Compared, value: Binary): Expression[] => [
    load[field],
    compare(0, 'equal', value),
  ];
  return [
    ...one('protocol', String.fromCharCode(flow.protocol)),
    ...(sourcePort === undefined ? [] : one('sourcePort', portBytes(sourcePort))),
    ...(source === undefined ? [] : one('source', addressBytes(source))),
    ...(destinationPort === undefined ? [] : one('destinationPort', portBytes(destinationPort))),
    ...(destination === undefined ? [] : one('destination', addressBytes(destination))),
  ];
}

function portBytes(port: number): Binary {
  return String.fromCharCode(port >> 8, port & 0xff);
}

function addressBytes(address: string): Binary {
  const ip = parseIp(address);
  if (ip === undefined) throw new RangeError(`'${address}' is not an IP address`);
  return String.fromCharCode(...ip.bytes);
}
