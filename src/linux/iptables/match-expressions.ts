import { be16, compared, masked, meta, payload } from '../nftables/listed-expressions.ts';
import type { TableFamily } from '../nftables/protocol.ts';
import type { Binary } from '../nftables/userdata.ts';
import {
  ANY_PORT_MATCH,
  accountMatch,
  commentMatch,
  conntrackMatch,
  LOCAL_ADDRESS_MATCH,
  LONGEST_ACCOUNT_NAME,
  LONGEST_COMMENT,
  LONGEST_RECENT_NAME,
  randomMatch,
  recentMatch,
  sctpMatch,
} from '../nftables/xt-matches.ts';
import { host32 } from '../nftables/xt-struct.ts';
import { addressBytes, decimalNumber, markAndMask, portOf } from './rule-numbers.ts';
import type { RuleWords } from './rule-words.ts';

/** Reads the options that follow `-m NAME`; undefined: some are not known here. */
type MatchReader = (words: RuleWords, family: TableFamily) => Binary | undefined;

const DESTINATION_PORT = payload('transport', { offset: 2, length: 2 });

export const MATCH_READERS: Readonly<Record<string, MatchReader>> = {
  comment: (words) => {
    const comment = printable(words.after('--comment'), LONGEST_COMMENT);
    return comment && commentMatch(comment);
  },
  nfacct: (words) => {
    const name = printable(words.after('--nfacct-name'), LONGEST_ACCOUNT_NAME);
    return name && accountMatch(name);
  },
  tcp: (words) => portOrAny(words, 'tcp'),
  udp: (words) => portOrAny(words, 'udp'),
  sctp: readSctp,
  addrtype: readAddressType,
  mark: readMark,
  conntrack: readConntrack,
  statistic: readRandom,
  recent: readRecent,
};

const PRINTABLE = /^[\x20-\x7e]+$/;

/** Undefined: empty, too long, or with characters of unknown length in bytes. */
function printable(text: string, longest: number): string | undefined {
  return text.length <= longest && PRINTABLE.test(text) ? text : undefined;
}

function portOrAny(words: RuleWords, protocol: 'tcp' | 'udp'): Binary | undefined {
  if (!words.take('--dport')) return ANY_PORT_MATCH[protocol];
  const port = portOf(words.next());
  return port === undefined ? undefined : DESTINATION_PORT + compared('equal', be16(port));
}

function readSctp(words: RuleWords): Binary | undefined {
  if (!words.take('--dport')) return sctpMatch(undefined);
  const port = portOf(words.next());
  return port === undefined ? undefined : sctpMatch(port);
}

function readAddressType(words: RuleWords): Binary | undefined {
  const of = words.take('--src-type') ? 'source' : 'destination';
  if (of === 'destination' && !words.take('--dst-type')) return undefined;
  return words.take('LOCAL') ? LOCAL_ADDRESS_MATCH[of] : undefined;
}

function readMark(words: RuleWords): Binary | undefined {
  const is = words.take('!') ? 'different' : 'equal';
  const asked = markAndMask(words.after('--mark'));
  if (!asked) return undefined;
  return meta('mark') + masked(host32(asked.mask)) + compared(is, host32(asked.mark));
}

function readConntrack(words: RuleWords): Binary | undefined {
  const isInverted = words.take('!');
  return conntrackMatch(words.after('--ctstate').split(','), isInverted);
}

function readRandom(words: RuleWords): Binary | undefined {
  if (words.after('--mode') !== 'random') return undefined;
  const text = words.after('--probability');
  return /^[01]\.\d+$/.test(text) ? randomMatch(Number(text)) : undefined;
}

function readRecent(words: RuleWords, family: TableFamily): Binary | undefined {
  const isSet = words.take('--set');
  if (!isSet && !words.take('--rcheck')) return undefined;
  const withinSeconds = isSet ? undefined : decimalNumber(words.after('--seconds'));
  if (!isSet && (withinSeconds === undefined || !words.take('--reap'))) return undefined;
  const name = printable(words.after('--name'), LONGEST_RECENT_NAME);
  const mask = addressBytes(words.after('--mask'), family);
  if (name === undefined || mask === undefined || !words.take('--rsource')) return undefined;
  const of = withinSeconds === undefined ? { name, mask } : { name, mask, withinSeconds };
  return recentMatch(of);
}
