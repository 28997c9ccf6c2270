import type { PodDetection } from '../../../../dataplanes/contract.ts';
import { markText } from '../../../../dataplanes/shared/nft/element-text.ts';
import { hostNumber } from '../../../../dataplanes/shared/nft/keys.ts';
import { matchInterface, matchPod, podText } from '../../../../dataplanes/shared/nft/matches.ts';
import * as x from '../../../../linux/nftables/expressions.ts';
import { keyText } from '../../../../linux/nftables/fields.ts';
import type { TableFamily } from '../../../../linux/nftables/protocol.ts';
import { frontendFields, hairpinFields, type SetName } from './sets.ts';

/** A part of a rule: as netlink expressions, and as nft 1.0.6 lists it. */
export interface Clause {
  readonly text: string;
  readonly expressions: readonly x.Expression[];
}

export interface Rule {
  readonly clauses: readonly Clause[];
  readonly comment?: string;
}

const CT_RELATED = 4;
const CT_NEW = 8;
const CT_CONFIRMED = 8;
const REPLY = '\x01';
const TCP = '\x06';
const TCP_SYN = '\x02';
const PROTOCOL_NUMBERS = { tcp: 6, udp: 17, sctp: 132 } as const;
const ROUTE_LOCAL = 2;
/** Not one that a key or a found value is in. */
const SAVED_MARK = 15;

export const IS_REPLY: Clause = {
  text: 'ct direction reply',
  expressions: [x.loadCtDirection(0), x.compare(0, 'equal', REPLY)],
};

/** An ICMP error about a packet of a connection. */
export const IS_RELATED: Clause = {
  text: 'ct state related',
  expressions: haveBits(x.loadCtState(0), CT_RELATED),
};

/** A connection is confirmed with its first packet that leaves or is delivered. */
export const IS_FIRST_PACKET: readonly [Clause, Clause] = [
  { text: 'ct state new', expressions: haveBits(x.loadCtState(0), CT_NEW) },
  { text: 'ct status ! confirmed', expressions: lackBits(x.loadCtStatus(0), CT_CONFIRMED) },
];

/** Until an answer came: a SYN that is sent again is no first packet. */
export const IS_UNANSWERED: Clause = IS_FIRST_PACKET[0];

export function isMarked(mark: number): Clause {
  return { text: marked('meta mark', mark), expressions: haveBits(x.loadMark(0), mark) };
}

export function isCaptured(mark: number): Clause {
  return { text: marked('ct mark', mark), expressions: haveBits(x.loadCtMark(0), mark) };
}

export function isNotCaptured(mark: number): Clause {
  return {
    text: `ct mark & ${markText(mark)} == ${markText(0)}`,
    expressions: lackBits(x.loadCtMark(0), mark),
  };
}

export function isPod(by: PodDetection, family: TableFamily): Clause {
  return { text: podText(by, true, family), expressions: matchPod(by, true, family) };
}

export function cameBy(name: string): Clause {
  return { text: `iifname "${name}"`, expressions: matchInterface(name) };
}

export const IS_FROM_THIS_NODE: Clause = {
  text: 'fib saddr type local',
  expressions: [x.loadAddressType('saddr', 0), x.compare(0, 'equal', hostNumber(ROUTE_LOCAL))],
};

export const IS_FOR_THIS_NODE: Clause = {
  text: 'fib daddr type local',
  expressions: [x.loadAddressType('daddr', 0), x.compare(0, 'equal', hostNumber(ROUTE_LOCAL))],
};

export const IS_NOT_FOR_THIS_NODE: Clause = {
  text: 'fib daddr type != local',
  expressions: [x.loadAddressType('daddr', 0), x.compare(0, 'different', hostNumber(ROUTE_LOCAL))],
};

/**
 * Whether the packet's frontend is in the map with all these bits. `nft` 1.0.6 cannot print a
 * comparison of a found value: it passes through the packet mark, which is restored at once.
 */
export function hasCapture(bits: number, family: TableFamily): Clause {
  const words = family === 'ip' ? 1 : 4;
  const found = words + 2;
  const map: SetName = 'captured';
  const isOne = (bits & (bits - 1)) === 0;
  const wanted = isOne ? marked('meta mark', bits) : markedAll(bits);
  return {
    text: `meta mark set ${keyText(frontendFields(family))} map @${map} meta mark set meta mark ${wanted}`,
    expressions: [
      x.loadDestinationAddress(family, 0),
      x.loadL4Protocol(words),
      x.loadDestinationPort(words + 1),
      x.lookup(map, 0, found),
      x.loadMark(SAVED_MARK),
      x.setMark(found),
      x.loadMark(0),
      x.setMark(SAVED_MARK),
      x.bitwise(0, { mask: hostNumber(bits), xor: hostNumber(0) }),
      isOne ? x.compare(0, 'different', hostNumber(0)) : x.compare(0, 'equal', hostNumber(bits)),
    ],
  };
}

export function isHairpin(family: TableFamily): Clause {
  const set: SetName = 'hairpin';
  return {
    text: `${keyText(hairpinFields(family))} @${set}`,
    expressions: [
      x.loadSourceAddress(family, 0),
      x.loadDestinationAddress(family, family === 'ip' ? 1 : 4),
      x.lookup(set, 0),
    ],
  };
}

/** To an address of a virtual server of ours. */
export function isToServer(family: TableFamily): Clause {
  const set: SetName = 'servers';
  const words = family === 'ip' ? 1 : 4;
  return {
    text: `${keyText(frontendFields(family))} @${set}`,
    expressions: [
      x.loadDestinationAddress(family, 0),
      x.loadL4Protocol(words),
      x.loadDestinationPort(words + 1),
      x.lookup(set, 0),
    ],
  };
}

/** A protocol as `nft` prints it, or the number of none. */
export type NextProtocol = 'tcp' | 'udp' | 'sctp' | number;

export function hasNextProtocol(protocol: NextProtocol, family: TableFamily): Clause {
  const load = x.loadNextProtocol(family, 0);
  return {
    text: `${nextProtocolText(family)} ${protocol}`,
    expressions: [load, x.compare(0, 'equal', protocolByte(protocol))],
  };
}

export function setNextProtocol(protocol: NextProtocol, family: TableFamily): Clause {
  return {
    text: `${nextProtocolText(family)} set ${protocol}`,
    expressions: [x.loadNumber(0, protocolByte(protocol)), x.setNextProtocol(family, 0)],
  };
}

export function capture(mark: number): Clause {
  return {
    text: `ct mark set ct mark | ${markText(mark)}`,
    expressions: [x.loadCtMark(0), setBits(mark), x.setCtMark(0)],
  };
}

export function setMark(mark: number): Clause {
  return {
    text: `meta mark set meta mark | ${markText(mark)}`,
    expressions: [x.loadMark(0), setBits(mark), x.setMark(0)],
  };
}

/** Of a packet that has it. */
export function clearMark(mark: number): Clause {
  return {
    text: `meta mark set meta mark ^ ${markText(mark)}`,
    expressions: [
      x.loadMark(0),
      x.bitwise(0, { mask: hostNumber(~0), xor: hostNumber(mark) }),
      x.setMark(0),
    ],
  };
}

/** Settles the translation of a connection: later chains of type nat are passed over. */
export function translateToItself(family: TableFamily): Clause {
  return {
    text: `dnat to ${family} daddr`,
    expressions: [x.loadDestinationAddress(family, 0), x.destinationAddressNat(family, 0)],
  };
}

export const MASQUERADE: Clause = {
  text: 'masquerade fully-random',
  expressions: [x.masquerade()],
};

export const RESET: Clause = {
  text: 'reject with tcp reset',
  expressions: [x.loadL4Protocol(0), x.compare(0, 'equal', TCP), x.rejectWithReset()],
};

/** In the forward hook: a client learns it by the answer to its SYN. */
export const CLAMP_MSS: Clause = {
  text: 'tcp flags syn tcp option maxseg size set rt mtu',
  expressions: [
    x.loadL4Protocol(0),
    x.compare(0, 'equal', TCP),
    x.loadTcpFlags(0),
    x.bitwise(0, { mask: TCP_SYN, xor: '\x00' }),
    x.compare(0, 'different', '\x00'),
    ...x.clampMssToRoute(0),
  ],
};

export function reject(family: TableFamily): Clause {
  return { text: 'reject', expressions: [x.rejectWithPortUnreachable(family)] };
}

export const RETURN: Clause = { text: 'return', expressions: [x.verdict('return')] };

export function goOn(verdict: 'jump' | 'goto', chain: string): Clause {
  return { text: `${verdict} ${chain}`, expressions: [x.verdict(verdict, chain)] };
}

function nextProtocolText(family: TableFamily): string {
  return family === 'ip' ? 'ip protocol' : 'ip6 nexthdr';
}

function protocolByte(protocol: NextProtocol): string {
  const number = typeof protocol === 'number' ? protocol : PROTOCOL_NUMBERS[protocol];
  return String.fromCharCode(number);
}

/** `nft` prints the highest bit alone as a prefix of length one. */
function marked(what: string, mark: number): string {
  if (mark === 2 ** 31) return `${what} != ${markText(0)}/1`;
  return `${what} & ${markText(mark)} != ${markText(0)}`;
}

function markedAll(bits: number): string {
  return `meta mark & ${markText(bits)} == ${markText(bits)}`;
}

function setBits(mark: number): x.Expression {
  return x.bitwise(0, { mask: hostNumber(~mark), xor: hostNumber(mark) });
}

function haveBits(load: x.Expression, bits: number): readonly x.Expression[] {
  return [...maskedBits(load, bits), x.compare(0, 'different', hostNumber(0))];
}

function lackBits(load: x.Expression, bits: number): readonly x.Expression[] {
  return [...maskedBits(load, bits), x.compare(0, 'equal', hostNumber(0))];
}

function maskedBits(load: x.Expression, bits: number): readonly x.Expression[] {
  return [load, x.bitwise(0, { mask: hostNumber(bits), xor: hostNumber(0) })];
}
