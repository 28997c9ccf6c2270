import { type Cidr, parseCidr } from '../../addresses/cidr.ts';
import { COUNTER, compared, masked, meta, payload } from '../nftables/listed-expressions.ts';
import type { TableFamily } from '../nftables/protocol.ts';
import type { Binary } from '../nftables/userdata.ts';
import { MATCH_READERS } from './match-expressions.ts';
import { addressBytes } from './rule-numbers.ts';
import { RuleWords } from './rule-words.ts';
import { targetExpressions } from './target-expressions.ts';

/** A rule as the nft backend of iptables gives it to the kernel. */
export interface RuleExpressions {
  readonly expressions: Binary;
  /** The protocol passed to xtables modules; 0: any. */
  readonly protocol: number;
}

const PROTOCOLS: Readonly<Record<string, number>> = { tcp: 6, udp: 17, sctp: 132 };
const LONGEST_INTERFACE = 15;

/**
 * Translates a rule from the text that `iptables-save` prints into what `iptables-restore` 1.8.9
 * makes of it: some matches are the kernel's new expressions, others modules of the old tables.
 * Undefined: it has something that is not known here, and the program must write it.
 */
export function ruleExpressions(text: string, family: TableFamily): RuleExpressions | undefined {
  const words = new RuleWords(text);
  const source = readRange(words, { option: '-s', family });
  const destination = readRange(words, { option: '-d', family });
  const inInterface = readInterface(words);
  const protocol = words.take('-p') ? PROTOCOLS[words.next()] : 0;
  const matches = readMatches(words, family);
  const target = words.take('-j') ? targetExpressions(words, family) : '';
  if (source === undefined || destination === undefined || inInterface === undefined) return;
  if (protocol === undefined || matches === undefined || target === undefined) return;
  if (!words.isAtEnd) return;
  const isProtocol = protocol === 0 ? '' : protocolExpressions(protocol);
  const head = inInterface + isProtocol + source + destination;
  return { expressions: head + matches + COUNTER + target, protocol };
}

function protocolExpressions(protocol: number): Binary {
  return meta('l4Protocol') + compared('equal', String.fromCharCode(protocol));
}

function readMatches(words: RuleWords, family: TableFamily): Binary | undefined {
  let all = '';
  while (words.take('-m')) {
    const name = words.next();
    const read = Object.hasOwn(MATCH_READERS, name) ? MATCH_READERS[name] : undefined;
    const one = read?.(words, family);
    if (one === undefined) return undefined;
    all += one;
  }
  return all;
}

/** Empty: the option is not there. */
function readOption(words: RuleWords, option: string): { is: 'equal' | 'different'; text: string } {
  const isInverted = words.take(`! ${option}`);
  if (!isInverted && !words.take(option)) return { is: 'equal', text: '' };
  return { is: isInverted ? 'different' : 'equal', text: words.next() };
}

function readInterface(words: RuleWords): Binary | undefined {
  const { is, text } = readOption(words, '-i');
  if (text === '') return '';
  if (text.length > LONGEST_INTERFACE || !/^[\x21-\x7e]+$/.test(text) || text === '+') return;
  const compares = text.endsWith('+') ? text.slice(0, -1) : `${text}\0`;
  return meta('inInterface') + compared(is, compares);
}

const OFFSETS = {
  ip: { '-s': 12, '-d': 16 },
  ip6: { '-s': 8, '-d': 24 },
} as const;

const wholeAddress = (family: TableFamily, suffix: string) => {
  const length = family === 'ip' ? 4 : 16;
  const load = (option: '-s' | '-d') =>
    payload('network', { offset: OFFSETS[family][option], length });
  return { suffix, '-s': load('-s'), '-d': load('-d') };
};
/** Most ranges are of a single address. */
const WHOLE = { ip: wholeAddress('ip', '/32'), ip6: wholeAddress('ip6', '/128') } as const;

/** A range that ends between bytes is masked, any other only compared as far as it goes. */
function readRange(
  words: RuleWords,
  of: { readonly option: '-s' | '-d'; readonly family: TableFamily },
): Binary | undefined {
  const { is, text } = readOption(words, of.option);
  if (text === '') return '';
  const whole = WHOLE[of.family];
  const single = text.endsWith(whole.suffix)
    ? addressBytes(text.slice(0, -whole.suffix.length), of.family)
    : undefined;
  if (single !== undefined) return whole[of.option] + compared(is, single);
  return rangeExpressions(parseCidr(text), { ...of, is });
}

function rangeExpressions(
  range: Cidr | undefined,
  of: { option: '-s' | '-d'; family: TableFamily; is: 'equal' | 'different' },
): Binary | undefined {
  if (range?.base.version !== (of.family === 'ip' ? 4 : 6) || range.prefixLength === 0) return;
  const offset = OFFSETS[of.family][of.option];
  const bytes = String.fromCharCode(...range.base.bytes);
  const isWhole = range.prefixLength % 8 === 0;
  const length = isWhole ? range.prefixLength / 8 : bytes.length;
  const mask = isWhole ? '' : masked(maskBytes(range.prefixLength, length));
  return payload('network', { offset, length }) + mask + compared(of.is, bytes.slice(0, length));
}

function maskBytes(prefixLength: number, length: number): Binary {
  let mask = '';
  for (let i = 0; i < length; i++) {
    const bits = Math.min(8, Math.max(0, prefixLength - i * 8));
    mask += String.fromCharCode((0xff << (8 - bits)) & 0xff);
  }
  return mask;
}
