import { formatIp } from '../../addresses/ip.ts';
import type { SourceClass } from '../../forwarding/model.ts';
import * as x from '../../linux/nftables/expressions.ts';
import {
  destinationAddress,
  keyText,
  L4_PROTOCOL,
  MARK,
  sourceAddress,
} from '../../linux/nftables/fields.ts';
import type { TableFamily } from '../../linux/nftables/nftables-protocol.ts';
import { hasBits, lacksBits } from '../shared/nft/bits.ts';
import * as common from '../shared/nft/common-clauses.ts';
import { addressWords, find, isIn, type PacketKey, packetFrontend } from '../shared/nft/lookups.ts';
import { joined, type Rule as RuleOf, type WordedClause } from '../shared/nft/nft-rule.ts';
import { compareRange, prefixMask, rangeText } from '../shared/nft/prefix.ts';
import { groupChange } from './classes.ts';
import type { ListOf } from './groups.ts';
import {
  type ClassSet,
  frontendMap,
  NODE_PORT_FIELDS,
  type SetName,
  type Where,
} from './nftables-sets.ts';
import { levelBits, SOURCE_LIST_BITS } from './source-ranges.ts';

/** Also tells which packets it can match. */
export interface Clause extends WordedClause {
  /** Missing: those of every frontend. */
  readonly concerns?: (packet: FrontendPacket) => boolean;
}

export type Rule = RuleOf<Clause>;

/** A new connection's packet to a frontend, as far as its row tells. */
export interface FrontendPacket {
  readonly isTcp: boolean;
  readonly isForNodePort: boolean;
  /** For some source class. */
  readonly isForwarded: boolean;
  readonly hasElementIn: (set: SetName) => boolean;
  /** Whether the row's allowed sources have a range of this length. */
  readonly hasRange: (prefixLength: number) => boolean;
  /** Whether a rule of the chain concerns it; the chain is then part of its path. */
  readonly visits: (chain: string) => boolean;
  readonly visitsClass: (lookup: ClassLookup) => boolean;
}

/**
 * Finds the group of a frontend and the class of the group, and goes to the chain of the class.
 * `as`: not of the group itself, but of the entry for its next step.
 */
export interface ClassLookup {
  readonly where: Where;
  readonly as?: { readonly treatment: 'short' | 'pick' | 'choose'; readonly listOf: ListOf };
  readonly classes: ClassSet;
}

const CT_DESTINATION_TRANSLATED = 32;
const FOUND = 10;
const PROTOCOL: PacketKey = {
  text: L4_PROTOCOL.text,
  load: [x.loadL4Protocol(0)],
  at: 0,
  next: FOUND,
};
const NODE_PORT: PacketKey = {
  text: keyText(NODE_PORT_FIELDS),
  load: [x.loadL4Protocol(0), x.loadDestinationPort(1)],
  at: 0,
  next: 2,
};
const FOUND_MARK: PacketKey = { text: MARK.text, load: [], at: 0, next: 1 };

export function frontendKeyOf(where: Where, family: TableFamily): PacketKey {
  return where === 'service' ? packetFrontend(family) : NODE_PORT;
}

export const IS_TRANSLATED: Clause = {
  text: 'ct status dnat',
  expressions: hasBits(x.loadCtStatus(0), CT_DESTINATION_TRANSLATED),
  words: { when: 'its destination was translated' },
  concerns: ({ isForwarded }) => isForwarded,
};

export const IS_UNTRANSLATED: Clause = {
  text: 'ct status ! dnat',
  expressions: lacksBits(x.loadCtStatus(0), CT_DESTINATION_TRANSLATED),
  words: { when: 'its destination was not translated' },
};

export function isMarked(mark: number): Clause {
  return { ...common.isMarked(mark), concerns: ({ isForwarded }) => isForwarded };
}

export const IS_FOR_THIS_NODE: Clause = {
  ...common.IS_FOR_THIS_NODE,
  concerns: ({ isForNodePort }) => isForNodePort,
};

export function isNotForLoopback(family: TableFamily): Clause {
  const range = family === 'ip' ? '127.0.0.0/8' : '::1/128';
  return {
    text: `${destinationAddress(family).text} != ${rangeText(range)}`,
    expressions: [x.loadDestinationAddress(family, 0), ...compareRange(range, 'different')],
    words: { when: 'not for loopback' },
  };
}

/** No frontend is in such a range. */
export function isForRange(cidr: string, family: TableFamily): Clause {
  return {
    text: `${destinationAddress(family).text} ${rangeText(cidr)}`,
    expressions: [x.loadDestinationAddress(family, 0), ...compareRange(cidr, 'equal')],
    words: { when: `it is for an address in ${cidr}` },
    concerns: () => false,
  };
}

/** A socket with IP_TRANSPARENT sends it, or has its destination. */
export const IS_TRANSPARENT: Clause = {
  text: 'socket transparent 1',
  expressions: [x.loadSocket('transparent', 0), x.compare(0, 'equal', '\x01')],
  words: { when: 'a socket with IP_TRANSPARENT sends it' },
  concerns: ({ isTcp }) => isTcp,
};

export function isForFrontendIn(set: SetName, where: Where, family: TableFamily): Clause {
  return {
    ...isIn(frontendKeyOf(where, family), set),
    words: { when: `its ${frontendWords(where)} is in @${set}` },
    concerns: ({ hasElementIn }) => hasElementIn(set),
  };
}

export function isForAddressIn(set: 'nodeport-ips' | 'service-ips', family: TableFamily): Clause {
  return {
    text: `${destinationAddress(family).text} @${set}`,
    expressions: [x.loadDestinationAddress(family, 0), x.lookup(set, 0)],
    words: { when: `the address it is for is in @${set}` },
    concerns: ({ isForNodePort }) => isForNodePort && set === 'nodeport-ips',
  };
}

/** Only some sources may ask its frontend. */
export function isLimited(family: TableFamily): Clause {
  return {
    ...find(packetFrontend(family), 'source-lists', { to: [] }),
    words: { when: '@source-lists has a list of sources for its address and port' },
    concerns: ({ hasElementIn }) => hasElementIn('source-lists'),
  };
}

/** Its source lies in a range of this length in the list of its frontend. */
export function isFromRange(prefixLength: number, family: TableFamily): Clause {
  const change = { mask: 2 ** SOURCE_LIST_BITS - 1, xor: levelBits(prefixLength) };
  return {
    ...joined(find(packetFrontend(family), 'source-lists', { to: [0], change }), {
      text: `${MARK.text} . ${maskedText(prefixLength, family)} @source-ranges`,
      expressions: [
        x.loadSourceAddress(family, 1),
        ...maskAddress(1, prefixLength, family),
        x.lookup('source-ranges', 0),
      ],
    }),
    words: { when: `its source lies in a /${prefixLength} of that list (@source-ranges)` },
    concerns: ({ hasRange }) => hasRange(prefixLength),
  };
}

export const DROP: Clause = {
  text: 'drop',
  expressions: [x.verdict('drop')],
  words: { does: 'drops it without a reply' },
};

export function jump(chain: string): Clause {
  return { ...common.goOn('jump', chain), concerns: ({ visits }) => visits(chain) };
}

export function goto(chain: string): Clause {
  return { ...common.goOn('goto', chain), concerns: ({ visits }) => visits(chain) };
}

export function classify(lookup: ClassLookup, family: TableFamily): Clause {
  const { where, as, classes } = lookup;
  const map = frontendMap(where);
  const change = as && groupChange(as.treatment, as.listOf);
  return {
    ...joined(
      find(frontendKeyOf(where, family), map, { to: [0], change }),
      find(FOUND_MARK, 'groups', { to: [0] }),
      { text: `${MARK.text} vmap @${classes}`, expressions: [x.lookupVerdict(classes, 0)] },
    ),
    words: {
      does: `${CLASSIFIED[as?.treatment ?? 'own']} of its ${frontendWords(where)} (@${map}, @groups), and goes on in the chain that @${classes} names for it`,
    },
    concerns: ({ visitsClass }) => visitsClass(lookup),
  };
}

const CLASSIFIED = {
  own: 'looks up the class',
  short: 'looks up how this node itself reaches the Service, by the class',
  pick: 'looks up how to draw an endpoint without an affinity entry, by the class',
  choose: 'looks up how to choose an endpoint, by the class',
} as const;

/** Translates to the listener of the forwarder for this source class, if it has one now. */
export function handOverFrom(from: SourceClass, family: TableFamily): Clause {
  const map: SetName = `forwarder-${from}`;
  return {
    text: `dnat ${family} to ${PROTOCOL.text} map @${map}`,
    expressions: [...PROTOCOL.load, x.lookup(map, 0, FOUND), translateTo(FOUND, family)],
    words: { does: `hands it over to the forwarder, while that lives (@${map})` },
    concerns: ({ isTcp }) => isTcp,
  };
}

/** Counts connections of protocols that the forwarder takes, and goes on only for those. */
export const COUNT_NOT_HANDED_OVER: Clause = {
  ...isIn(PROTOCOL, 'not-handed-over'),
  words: { when: 'it is TCP, which @not-handed-over counts' },
  concerns: ({ isTcp }) => isTcp,
};

export function translateTo(found: number, family: TableFamily): x.Expression {
  return x.destinationNat(family, { address: found, port: found + addressWords(family) });
}

function frontendWords(where: Where): string {
  return where === 'service' ? 'address and port' : 'port';
}

function maskAddress(
  ...[at, prefixLength, family]: [number, number, TableFamily]
): readonly x.Expression[] {
  const byteLength = addressWords(family) * 4;
  if (prefixLength === byteLength * 8) return [];
  return [
    x.bitwise(at, { mask: prefixMask(prefixLength, byteLength), xor: '\0'.repeat(byteLength) }),
  ];
}

function maskedText(prefixLength: number, family: TableFamily): string {
  const { text, byteLength } = sourceAddress(family);
  if (prefixLength === byteLength * 8) return text;
  const mask = prefixMask(prefixLength, byteLength);
  const bytes = Uint8Array.from(mask, (letter) => letter.charCodeAt(0));
  return `${text} & ${formatIp({ version: byteLength === 4 ? 4 : 6, bytes })}`;
}
