import type { PodDetection } from '../../../forwarding/answer/place.ts';
import * as x from '../../../linux/nftables/expressions.ts';
import { sourceAddress } from '../../../linux/nftables/fields.ts';
import type { TableFamily } from '../../../linux/nftables/nftables-protocol.ts';
import { SAID } from '../words.ts';
import { bitsText, hasBits, setBits } from './bits.ts';
import { hostNumber } from './element-keys.ts';
import { markText } from './element-text.ts';
import { isIn, packetAddresses } from './lookups.ts';
import type { WordedClause } from './nft-rule.ts';
import { compareRange, rangeText } from './prefix.ts';

const CT_NEW = 8;
const ROUTE_LOCAL = 2;
const TCP = '\x06';
const NAME_BYTES = 16;

export const IS_NEW: WordedClause = {
  text: 'ct state new',
  expressions: hasBits(x.loadCtState(0), CT_NEW),
  words: { when: SAID.beginsConnection },
};

export function isMarked(mark: number): WordedClause {
  return {
    text: bitsText('meta mark', mark),
    expressions: hasBits(x.loadMark(0), mark),
    words: { when: SAID.isMarked },
  };
}

/** Whether a packet is of a pod of this node. */
export function isPod(...[by, is, family]: [PodDetection, boolean, TableFamily]): WordedClause {
  const how = is ? 'equal' : 'different';
  const not = is ? '' : '!= ';
  const when = (detail: string) => ({
    when: `it ${is ? 'comes' : 'does not come'} from a pod of this node (${detail})`,
  });
  if (by.by === 'cidr') {
    return {
      text: `${sourceAddress(family).text} ${not}${rangeText(by.cidr)}`,
      expressions: [x.loadSourceAddress(family, 0), ...compareRange(by.cidr, how)],
      words: when(`from ${by.cidr}`),
    };
  }
  const isWhole = by.by === 'interface';
  const name = isWhole ? by.name : `${by.prefix}*`;
  const bytes = isWhole ? wholeName(by.name) : by.prefix;
  return {
    text: `iifname ${not}"${name}"`,
    expressions: [x.loadInterfaceName(0), x.compare(0, how, bytes)],
    words: when(`through ${name}`),
  };
}

/** `name`: with `*` at the end for anything. */
export function cameBy(name: string): WordedClause {
  const bytes = name.endsWith('*') ? name.slice(0, -1) : wholeName(name);
  return {
    text: `iifname "${name}"`,
    expressions: [x.loadInterfaceName(0), x.compare(0, 'equal', bytes)],
    words: { when: `it came in through ${name}` },
  };
}

export const IS_FROM_THIS_NODE: WordedClause = {
  text: 'fib saddr type local',
  expressions: [x.loadAddressType('saddr', 0), x.compare(0, 'equal', hostNumber(ROUTE_LOCAL))],
  words: { when: SAID.comesFromNode },
};

export const IS_FOR_THIS_NODE: WordedClause = {
  text: 'fib daddr type local',
  expressions: [x.loadAddressType('daddr', 0), x.compare(0, 'equal', hostNumber(ROUTE_LOCAL))],
  words: { when: SAID.isForNode },
};

export function isHairpin(family: TableFamily): WordedClause {
  return {
    ...isIn(packetAddresses(family), 'hairpin'),
    words: { when: 'an endpoint of this node (@hairpin) reaches itself' },
  };
}

export function setMark(mark: number): WordedClause {
  return {
    text: `meta mark set meta mark | ${markText(mark)}`,
    expressions: [x.loadMark(0), setBits(mark), x.setMark(0)],
    words: { does: SAID.marks },
  };
}

/** Of a packet that has it. */
export function clearMark(mark: number): WordedClause {
  return {
    text: `meta mark set meta mark ^ ${markText(mark)}`,
    expressions: [
      x.loadMark(0),
      x.bitwise(0, { mask: hostNumber(~0), xor: hostNumber(mark) }),
      x.setMark(0),
    ],
    words: { does: SAID.clearsMark },
  };
}

export const MASQUERADE: WordedClause = {
  text: 'masquerade fully-random',
  expressions: [x.masquerade()],
  words: { does: SAID.masquerades },
};

export const RESET: WordedClause = {
  text: 'reject with tcp reset',
  expressions: [x.loadL4Protocol(0), x.compare(0, 'equal', TCP), x.rejectWithReset()],
  words: { does: 'rejects it with a TCP reset, if it is TCP' },
};

export function reject(family: TableFamily): WordedClause {
  return {
    text: 'reject',
    expressions: [x.rejectWithPortUnreachable(family)],
    words: { does: SAID.rejectsByIcmp },
  };
}

export const RETURN: WordedClause = {
  text: 'return',
  expressions: [x.verdict('return')],
  words: { does: 'lets it pass' },
};

export function goOn(verdict: 'jump' | 'goto', chain: string): WordedClause {
  return {
    text: `${verdict} ${chain}`,
    expressions: [x.verdict(verdict, chain)],
    words: { does: `${verdict === 'jump' ? 'goes through' : 'goes on in'} chain ${chain}` },
  };
}

function wholeName(name: string): string {
  return name.padEnd(NAME_BYTES, '\0');
}
