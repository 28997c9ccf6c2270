import { bitsText, hasBits, lacksBits, setBits } from '../../../../dataplanes/shared/nft/bits.ts';
import { IS_NEW } from '../../../../dataplanes/shared/nft/common-clauses.ts';
import { hostNumber } from '../../../../dataplanes/shared/nft/element-keys.ts';
import { markText } from '../../../../dataplanes/shared/nft/element-text.ts';
import { find, isIn, packetFrontend } from '../../../../dataplanes/shared/nft/lookups.ts';
import { type Clause, joined } from '../../../../dataplanes/shared/nft/nft-rule.ts';
import * as x from '../../../../linux/nftables/expressions.ts';
import type { TableFamily } from '../../../../linux/nftables/nftables-protocol.ts';
import type { SetName } from './capture-sets.ts';

const CT_RELATED = 4;
const CT_CONFIRMED = 8;
const REPLY = '\x01';
const TCP = '\x06';
const TCP_SYN = '\x02';
const PROTOCOL_NUMBERS = { tcp: 6, udp: 17, sctp: 132 } as const;
const ROUTE_LOCAL = 2;

export const IS_REPLY: Clause = {
  text: 'ct direction reply',
  expressions: [x.loadCtDirection(0), x.compare(0, 'equal', REPLY)],
};

/** An ICMP error about a packet of a connection. */
export const IS_RELATED: Clause = {
  text: 'ct state related',
  expressions: hasBits(x.loadCtState(0), CT_RELATED),
};

/** A connection is confirmed with its first packet that leaves or is delivered. */
export const IS_FIRST_PACKET: readonly [Clause, Clause] = [
  IS_NEW,
  { text: 'ct status ! confirmed', expressions: lacksBits(x.loadCtStatus(0), CT_CONFIRMED) },
];

/** Until an answer came: a SYN that is sent again is no first packet. */
export const IS_UNANSWERED: Clause = IS_NEW;

export function isCaptured(mark: number): Clause {
  return { text: bitsText('ct mark', mark), expressions: hasBits(x.loadCtMark(0), mark) };
}

export function isNotCaptured(mark: number): Clause {
  return {
    text: `ct mark & ${markText(mark)} == ${markText(0)}`,
    expressions: lacksBits(x.loadCtMark(0), mark),
  };
}

export const IS_NOT_FOR_THIS_NODE: Clause = {
  text: 'fib daddr type != local',
  expressions: [x.loadAddressType('daddr', 0), x.compare(0, 'different', hostNumber(ROUTE_LOCAL))],
};

/** The packet's frontend is in the map with all these bits. */
export function hasCapture(bits: number, family: TableFamily): Clause {
  const map: SetName = 'captured';
  const isOne = (bits & (bits - 1)) === 0;
  return joined(find(packetFrontend(family), map, { to: [0] }), {
    text: isOne ? bitsText('meta mark', bits) : allBitsText(bits),
    expressions: [
      x.bitwise(0, { mask: hostNumber(bits), xor: hostNumber(0) }),
      isOne ? x.compare(0, 'different', hostNumber(0)) : x.compare(0, 'equal', hostNumber(bits)),
    ],
  });
}

/** To an address of a virtual server of ours. */
export function isToServer(family: TableFamily): Clause {
  const set: SetName = 'servers';
  return isIn(packetFrontend(family), set);
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

/** Settles the translation of a connection: later chains of type nat are passed over. */
export function translateToItself(family: TableFamily): Clause {
  return {
    text: `dnat to ${family} daddr`,
    expressions: [x.loadDestinationAddress(family, 0), x.destinationAddressNat(family, 0)],
  };
}

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

function nextProtocolText(family: TableFamily): string {
  return family === 'ip' ? 'ip protocol' : 'ip6 nexthdr';
}

function protocolByte(protocol: NextProtocol): string {
  const number = typeof protocol === 'number' ? protocol : PROTOCOL_NUMBERS[protocol];
  return String.fromCharCode(number);
}

function allBitsText(bits: number): string {
  return `meta mark & ${markText(bits)} == ${markText(bits)}`;
}
