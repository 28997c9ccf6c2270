import * as x from '../../linux/nftables/expressions.ts';
import type { TableFamily } from '../../linux/nftables/protocol.ts';
import { hostNumber } from '../shared/nft/keys.ts';
import { compareRange, matchInterface, matchPod } from '../shared/nft/matches.ts';
import { prefixMask } from '../shared/nft/prefix.ts';
import { groupChange } from './classes.ts';
import { LIST_MASK } from './groups.ts';
import { clientLimit } from './quota.ts';
import { frontendMap } from './sets.ts';
import { levelBits, SOURCE_LIST_BITS } from './source-ranges.ts';
import type { Rule, Statement, Way, Where } from './statements.ts';

type Expressions = readonly x.Expression[];
type Do = Statement['do'];
type Printer<K extends Do> = (
  statement: Extract<Statement, { do: K }>,
  family: TableFamily,
) => Expressions;

const CT_NEW = 8;
const CT_DESTINATION_TRANSLATED = 32;
const ROUTE_LOCAL = 2;
const TCP = '\x06';
/**
 * Kept free for the packet's own mark. `nft` 1.0.6 aborts on a rule in which the result of one
 * lookup is the key of another; passing it through the mark, and putting the packet's own back at
 * once, gives the value a name. The mark must be restored before any lookup that can fail, or the
 * packet goes on with ours.
 */
const SAVED_MARK = 15;

export function expressionsOf(rule: Rule, family: TableFamily): Expressions {
  return rule.statements.flatMap((statement) => print(statement, family));
}

function print(statement: Statement, family: TableFamily): Expressions {
  const printer = PRINTERS[statement.do] as Printer<Do>;
  return printer(statement, family);
}

const PRINTERS: { readonly [K in Do]: Printer<K> } = {
  'match-new': () => matchBits(x.loadCtState(0), CT_NEW),
  'match-translated': () => matchBits(x.loadCtStatus(0), CT_DESTINATION_TRANSLATED),
  'match-untranslated': () => [
    x.loadCtStatus(0),
    x.bitwise(0, { mask: hostNumber(CT_DESTINATION_TRANSLATED), xor: hostNumber(0) }),
    x.compare(0, 'equal', hostNumber(0)),
  ],
  'match-pod': ({ by, is }, family) => matchPod(by, is, family),
  'match-interface': ({ name }) => matchInterface(name),
  'match-local': ({ of }) => [
    x.loadAddressType(of, 0),
    x.compare(0, 'equal', hostNumber(ROUTE_LOCAL)),
  ],
  'match-not-loopback': (_, family) => [
    x.loadDestinationAddress(family, 0),
    ...compareRange(family === 'ip' ? '127.0.0.0/8' : '::1/128', 'different'),
  ],
  'match-range': ({ cidr }, family) => [
    x.loadDestinationAddress(family, 0),
    ...compareRange(cidr, 'equal'),
  ],
  'match-transparent': () => [x.loadSocket('transparent', 0), x.compare(0, 'equal', '\x01')],
  'match-marked': ({ mark }) => matchBits(x.loadMark(0), mark),
  'match-frontend': ({ where, set }, family) => [
    ...loadFrontend(where, family).load,
    x.lookup(set, 0),
  ],
  'match-address': ({ set }, family) => [x.loadDestinationAddress(family, 0), x.lookup(set, 0)],
  'match-hairpin': ({ set }, family) => [
    x.loadSourceAddress(family, 0),
    x.loadDestinationAddress(family, addressWords(family)),
    x.lookup(set, 0),
  ],
  'match-limited': (_, family) => {
    const { load, next } = loadFrontend('service', family);
    return [...load, x.lookup('source-lists', 0, next), ...named(next, [])];
  },
  'match-source': ({ prefixLength }, family) => {
    const { load, next } = loadFrontend('service', family);
    return [
      ...load,
      x.lookup('source-lists', 0, next),
      ...named(next, [0], { mask: 2 ** SOURCE_LIST_BITS - 1, xor: levelBits(prefixLength) }),
      x.loadSourceAddress(family, 1),
      ...maskAddress(1, prefixLength, family),
      x.lookup('source-ranges', 0),
    ];
  },
  'set-mark': ({ mark }) => changeMark({ mask: ~mark, xor: mark }),
  'clear-mark': ({ mark }) => changeMark({ mask: ~0, xor: mark }),
  masquerade: () => [x.masquerade()],
  reset: () => [x.loadL4Protocol(0), x.compare(0, 'equal', TCP), x.rejectWithReset()],
  reject: (_, family) => [x.rejectWithPortUnreachable(family)],
  drop: () => [x.verdict('drop')],
  leave: () => [x.verdict('return')],
  jump: ({ chain }) => [x.verdict('jump', chain)],
  goto: ({ chain }) => [x.verdict('goto', chain)],
  classify: ({ where, as, classes }, family) => {
    const { load, next } = loadFrontend(where, family);
    const change = as && groupChange(as.treatment, as.listOf);
    return [
      ...load,
      x.lookup(frontendMap(where), 0, next),
      ...named(next, [0], change),
      x.lookup('groups', 0, 1),
      ...named(1, [0]),
      x.lookupVerdict(classes, 0),
    ];
  },
  'hand-over': ({ from }, family) => [
    x.loadL4Protocol(0),
    x.lookup(`forwarder-${from}`, 0, FOUND),
    translateTo(FOUND, family),
  ],
  'count-not-handed-over': () => [x.loadL4Protocol(0), x.lookup('not-handed-over', 0)],
  translate: ({ way, slotCount }, family) => [
    ...loadList(way, family, [0]),
    randomSlot(1, slotCount),
    x.lookup('slots', 0, FOUND),
    translateTo(FOUND, family),
  ],
  return: ({ way, seconds }, family) => {
    const client = 1 + addressWords(family);
    return [
      ...loadList(way, family, [0, LIST]),
      x.loadSourceAddress(family, 1),
      x.lookup('clients', 0, client),
      ...named(client, [ENDPOINT_ID]),
      x.lookup('sticky-endpoints', LIST, FOUND),
      x.remember('clients', { key: 0, value: ENDPOINT_ID, timeoutMs: seconds * 1000 }),
      translateTo(FOUND, family),
    ];
  },
  'match-room': ({ way, seconds }, family) => [
    ...loadList(way, family, [0]),
    x.limitEach('new-clients', { key: 0, timeoutMs: seconds * 1000, ...clientLimit(seconds) }),
  ],
  choose: ({ way, slotCount }, family) => [
    ...loadList(way, family, [0, LIST]),
    randomSlot(ENDPOINT_ID, slotCount),
    x.lookup('sticky-slots', LIST, FOUND),
    ...named(FOUND, [ENDPOINT_ID]),
    x.loadSourceAddress(family, 1),
    // An affinity entry of a removed endpoint would stay: an update changes no value.
    x.forget('clients', { key: 0, value: ENDPOINT_ID }),
    x.remember('clients', { key: 0, value: ENDPOINT_ID, timeoutMs: UNTIL_RETURN_MS }),
    x.verdict('return'),
  ],
};

/** Registers of session affinity: the list twice, as the first part of two keys. */
const LIST = 8;
const ENDPOINT_ID = 9;
const FOUND = 10;
/** The next rule sets the timeout of the client; this applies if that rule is never reached. */
const UNTIL_RETURN_MS = 60_000;

/** The number of the list that the packet goes to, in these registers. */
function loadList(way: Way, family: TableFamily, to: readonly number[]): Expressions {
  const { load, next } = loadFrontend(way.where, family);
  const change = { mask: LIST_MASK[way.listOf], xor: 0 };
  return [...load, x.lookup(frontendMap(way.where), 0, next), ...named(next, to, change)];
}

/** Copies a register to others through the packet mark, which is as it was afterwards. */
function named(
  from: number,
  to: readonly number[],
  change?: { readonly mask: number; readonly xor: number },
): Expressions {
  const changed = change && {
    mask: hostNumber(change.mask),
    xor: hostNumber(change.xor),
  };
  return [
    x.loadMark(SAVED_MARK),
    x.setMark(from),
    // Changed in the packet mark as well: `nft` cannot print bit operations on the result of a map.
    ...(changed ? [x.loadMark(from), x.bitwise(from, changed), x.setMark(from)] : []),
    ...to.map((register) => x.loadMark(register)),
    x.setMark(SAVED_MARK),
  ];
}

/** The key of a frontend from register 0; `next` is the first free one after it. */
function loadFrontend(where: Where, family: TableFamily): { load: Expressions; next: number } {
  const at = where === 'service' ? addressWords(family) : 0;
  const address = where === 'service' ? [x.loadDestinationAddress(family, 0)] : [];
  return {
    load: [...address, x.loadL4Protocol(at), x.loadDestinationPort(at + 1)],
    next: at + 2,
  };
}

function randomSlot(to: number, slotCount: number): x.Expression {
  return x.randomNumber(to, { modulus: slotCount, offset: 0 });
}

function translateTo(found: number, family: TableFamily): x.Expression {
  return x.destinationNat(family, { address: found, port: found + addressWords(family) });
}

function matchBits(load: x.Expression, bits: number): Expressions {
  return [
    load,
    x.bitwise(0, { mask: hostNumber(bits), xor: hostNumber(0) }),
    x.compare(0, 'different', hostNumber(0)),
  ];
}

function changeMark(of: { mask: number; xor: number }): Expressions {
  const { mask, xor } = of;
  return [
    x.loadMark(0),
    x.bitwise(0, { mask: hostNumber(mask), xor: hostNumber(xor) }),
    x.setMark(0),
  ];
}

function maskAddress(at: number, prefixLength: number, family: TableFamily): Expressions {
  const byteLength = addressWords(family) * 4;
  if (prefixLength === byteLength * 8) return [];
  return [
    x.bitwise(at, { mask: prefixMask(prefixLength, byteLength), xor: '\0'.repeat(byteLength) }),
  ];
}

function addressWords(family: TableFamily): number {
  return family === 'ip' ? 1 : 4;
}
