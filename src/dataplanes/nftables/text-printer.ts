import { formatIp } from '../../addresses/ip.ts';
import { destinationAddress, keyText, sourceAddress } from '../../linux/nftables/fields.ts';
import type { TableFamily } from '../../linux/nftables/protocol.ts';
import { markText } from '../shared/nft/element-text.ts';
import { podText, rangeText } from '../shared/nft/matches.ts';
import { prefixMask } from '../shared/nft/prefix.ts';
import { groupChange } from './classes.ts';
import { LIST_MASK } from './groups.ts';
import { clientLimit } from './quota.ts';
import { frontendFields, frontendMap, NODE_PORT_FIELDS } from './sets.ts';
import { levelBits, SOURCE_LIST_BITS } from './source-ranges.ts';
import type { Rule, Statement, Way, Where } from './statements.ts';

type Do = Statement['do'];
type Printer<K extends Do> = (
  statement: Extract<Statement, { do: K }>,
  family: TableFamily,
) => string;

/** A rule as nft 1.0.6 lists it. */
export function ruleText(rule: Rule, family: TableFamily): string {
  const statements = rule.statements.map((statement) => {
    const printer = PRINTERS[statement.do] as Printer<Do>;
    return printer(statement, family);
  });
  const comment = rule.comment === undefined ? [] : [`comment "${rule.comment}"`];
  return [...statements, ...comment].join(' ');
}

/** The text of the detour through the packet mark (see netlink-printer.ts). */
const RESTORED = 'meta mark set meta mark';

const PRINTERS: { readonly [K in Do]: Printer<K> } = {
  'match-new': () => 'ct state new',
  'match-translated': () => 'ct status dnat',
  'match-untranslated': () => 'ct status ! dnat',
  'match-pod': ({ by, is }, family) => podText(by, is, family),
  'match-interface': ({ name }) => `iifname "${name}"`,
  'match-local': ({ of }) => `fib ${of} type local`,
  'match-not-loopback': (_, family) =>
    family === 'ip' ? 'ip daddr != 127.0.0.0/8' : 'ip6 daddr != ::1',
  'match-range': ({ cidr }, family) => `${destinationAddress(family).text} ${rangeText(cidr)}`,
  'match-transparent': () => 'socket transparent 1',
  'match-marked': ({ mark }) => markedText(mark),
  'match-frontend': ({ where, set }, family) => `${frontendText(where, family)} @${set}`,
  'match-address': ({ set }, family) => `${destinationAddress(family).text} @${set}`,
  'match-hairpin': ({ set }, family) =>
    `${keyText([sourceAddress(family), destinationAddress(family)])} @${set}`,
  'match-limited': (_, family) =>
    `meta mark set ${frontendText('service', family)} map @source-lists ${RESTORED}`,
  'match-source': ({ prefixLength }, family) => {
    const bits = { mask: 2 ** SOURCE_LIST_BITS - 1, xor: levelBits(prefixLength) };
    return [
      `meta mark set ${frontendText('service', family)} map @source-lists`,
      `${bitsText(bits)} ${RESTORED}`,
      `meta mark . ${maskedText(prefixLength, family)} @source-ranges`,
    ].join(' ');
  },
  'set-mark': ({ mark }) => `meta mark set meta mark | ${markText(mark)}`,
  'clear-mark': ({ mark }) => `meta mark set meta mark ^ ${markText(mark)}`,
  masquerade: () => 'masquerade fully-random',
  reset: () => 'reject with tcp reset',
  reject: () => 'reject',
  drop: () => 'drop',
  leave: () => 'return',
  jump: ({ chain }) => `jump ${chain}`,
  goto: ({ chain }) => `goto ${chain}`,
  classify: ({ where, as, classes }, family) => {
    const change = as && groupChange(as.treatment, as.listOf);
    const changed = change === undefined ? '' : ` ${bitsText(change)}`;
    return [
      `meta mark set ${frontendText(where, family)} map @${frontendMap(where)}${changed} ${RESTORED}`,
      `meta mark set meta mark map @groups ${RESTORED}`,
      `meta mark vmap @${classes}`,
    ].join(' ');
  },
  'hand-over': ({ from }, family) => `dnat ${family} to meta l4proto map @forwarder-${from}`,
  'count-not-handed-over': () => 'meta l4proto @not-handed-over',
  translate: ({ way, slotCount }, family) =>
    `${listText(way, family)} dnat ${family} to meta mark . ${slotText(slotCount)} map @slots`,
  return: ({ way, seconds }, family) => {
    const client = `meta mark . ${sourceAddress(family).text}`;
    return [
      listText(way, family),
      `meta mark set ${client} map @clients ${RESTORED}`,
      `update @clients { ${client} timeout ${durationText(seconds)} : meta mark }`,
      `dnat ${family} to meta mark . meta mark map @sticky-endpoints`,
    ].join(' ');
  },
  'match-room': ({ way, seconds }, family) => {
    const { perDay, burst } = clientLimit(seconds);
    const limit = `limit rate ${perDay}/day burst ${burst} packets`;
    return [
      listText(way, family),
      `update @new-clients { meta mark timeout ${durationText(seconds)} ${limit} }`,
    ].join(' ');
  },
  choose: ({ way, slotCount }, family) => {
    const client = `meta mark . ${sourceAddress(family).text}`;
    return [
      listText(way, family),
      `meta mark set meta mark . ${slotText(slotCount)} map @sticky-slots ${RESTORED}`,
      `delete @clients { ${client} : meta mark }`,
      `update @clients { ${client} timeout 1m : meta mark }`,
      'return',
    ].join(' ');
  },
};

/** `nft` prints the highest bit alone as a prefix of length one. */
function markedText(mark: number): string {
  if (mark === 2 ** 31) return `meta mark != ${markText(0)}/1`;
  return `meta mark & ${markText(mark)} != ${markText(0)}`;
}

function listText(way: Way, family: TableFamily): string {
  const mask = bitsText({ mask: LIST_MASK[way.listOf], xor: 0 });
  const frontend = frontendText(way.where, family);
  return `meta mark set ${frontend} map @${frontendMap(way.where)} ${mask} ${RESTORED}`;
}

/** (mark & mask) ^ xor, as `nft` prints it where no bit is in both. */
function bitsText({ mask, xor }: { mask: number; xor: number }): string {
  const kept = (mask | xor) >>> 0;
  const and = kept === 0xffff_ffff ? '' : ` & ${markText(kept)}`;
  const or = xor === 0 ? '' : ` | ${markText(xor)}`;
  return `meta mark set meta mark${and}${or}`;
}

function frontendText(where: Where, family: TableFamily): string {
  return keyText(where === 'service' ? frontendFields(family) : NODE_PORT_FIELDS);
}

function slotText(slotCount: number): string {
  return `numgen random mod ${slotCount}`;
}

function maskedText(prefixLength: number, family: TableFamily): string {
  const { text, byteLength } = sourceAddress(family);
  if (prefixLength === byteLength * 8) return text;
  const mask = prefixMask(prefixLength, byteLength);
  const bytes = Uint8Array.from(mask, (letter) => letter.charCodeAt(0));
  return `${text} & ${formatIp({ version: byteLength === 4 ? 4 : 6, bytes })}`;
}

/** `3h`, `1m30s`, `2d4h`: without parts that are zero. */
export function durationText(totalSeconds: number): string {
  const units = [
    ['d', 86_400],
    ['h', 3600],
    ['m', 60],
    ['s', 1],
  ] as const;
  let rest = totalSeconds;
  const parts = units.map(([unit, seconds]) => {
    const count = Math.floor(rest / seconds);
    rest -= count * seconds;
    return count === 0 ? '' : `${count}${unit}`;
  });
  return parts.join('') || '0s';
}
