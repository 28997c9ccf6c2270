import { type NetlinkMessage, readAttributes, textOf } from '../netlink/reader.ts';
import { MESSAGE, VERDICT } from '../nftables/nftables-protocol.ts';
import { signed32, unsigned32, unsigned64 } from '../nftables/read-numbers.ts';
import { type PacketHeader, readPacketHeader } from './packet-header.ts';

const HEADER_BYTES = 4;
const FAMILY_NAME: Readonly<Record<number, string>> = {
  1: 'inet',
  2: 'ip',
  3: 'arp',
  5: 'netdev',
  7: 'bridge',
  10: 'ip6',
};

/** What a traced packet met. */
export interface TraceEvent {
  /** The same for all events of a packet until it goes through another interface. */
  readonly packetId: number;
  /** `policy`: the end of a base chain. `return`: the end of another one. */
  readonly kind: 'policy' | 'return' | 'rule';
  /** Of the table, as `nft` names it. */
  readonly family: string;
  readonly table: string;
  readonly chain: string;
  /** Of a rule that matched; the end of a chain may be told as a rule without one. */
  readonly handle?: bigint;
  readonly verdict?: VerdictName;
  /** Of a jump or goto. */
  readonly target?: string;
  /** Only with the first event of a packet in each base chain. */
  readonly packet?: PacketHeader;
  readonly inInterface?: number;
  readonly outInterface?: number;
  readonly mark?: number;
}

/** Undefined: another message. */
export function decodeTrace({ type, body }: NetlinkMessage): TraceEvent | undefined {
  if (type !== MESSAGE.trace) return undefined;
  const attributes = readAttributes(body.subarray(HEADER_BYTES));
  const number = (attribute: number): number | undefined => unsigned32(attributes.get(attribute));
  const kind = TRACE_KIND[number(TRACE.kind) ?? 0];
  const packetId = number(TRACE.packetId);
  if (kind === undefined || packetId === undefined) return undefined;
  const handle = unsigned64(attributes.get(TRACE.handle));
  const network = attributes.get(TRACE.networkHeader);
  const transport = attributes.get(TRACE.transportHeader) ?? Buffer.alloc(0);
  const packet = network === undefined ? undefined : readPacketHeader(network, transport);
  return {
    packetId,
    kind,
    family: FAMILY_NAME[body[0] ?? 0] ?? String(body[0]),
    table: textOf(attributes.get(TRACE.table)),
    chain: textOf(attributes.get(TRACE.chain)),
    ...present('handle', handle),
    ...verdictOf(attributes.get(TRACE.verdict), attributes.get(TRACE.policy)),
    ...present('packet', packet),
    ...present('inInterface', number(TRACE.inInterface)),
    ...present('outInterface', number(TRACE.outInterface)),
    ...present('mark', number(TRACE.mark)),
  };
}

/** A rule's verdict, or the policy at the end of a base chain. */
function verdictOf(
  verdict: Buffer | undefined,
  policy: Buffer | undefined,
): Pick<TraceEvent, 'verdict' | 'target'> {
  if (verdict === undefined) return present('verdict', nameOf(signed32(policy)));
  const attributes = readAttributes(verdict);
  const target = attributes.get(VERDICT.chain);
  return {
    ...present('verdict', nameOf(signed32(attributes.get(VERDICT.code)))),
    ...present('target', target === undefined ? undefined : textOf(target)),
  };
}

/** The upper half of a code has more: an errno for a drop, the number of a queue. */
function nameOf(code: number | undefined): VerdictName | undefined {
  if (code === undefined) return undefined;
  return VERDICT_NAME[code] ?? VERDICT_NAME[code & 0xff];
}

function present<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]?: V });
}

/** Numbers of trace events (uapi/linux/netfilter/nf_tables.h, enum nft_trace_attributes). */
const TRACE = {
  table: 1,
  chain: 2,
  handle: 3,
  kind: 4,
  verdict: 5,
  packetId: 6,
  networkHeader: 8,
  transportHeader: 9,
  inInterface: 10,
  outInterface: 12,
  mark: 14,
  family: 15,
  policy: 16,
} as const;

const TRACE_KIND: Readonly<Record<number, 'policy' | 'return' | 'rule'>> = {
  1: 'policy',
  2: 'return',
  3: 'rule',
};

const VERDICT_NAME: Readonly<Record<number, VerdictName>> = {
  0: 'drop',
  1: 'accept',
  2: 'stolen',
  3: 'queue',
  [-1]: 'continue',
  [-2]: 'break',
  [-3]: 'jump',
  [-4]: 'goto',
  [-5]: 'return',
};

type VerdictName =
  | 'drop'
  | 'accept'
  | 'stolen'
  | 'queue'
  | 'continue'
  | 'break'
  | 'jump'
  | 'goto'
  | 'return';
