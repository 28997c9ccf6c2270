import * as x from '../../linux/nftables/expressions.ts';
import { MARK, sourceAddress } from '../../linux/nftables/fields.ts';
import type { TableFamily } from '../../linux/nftables/nftables-protocol.ts';
import { addressWords, find } from '../shared/nft/lookups.ts';
import { joined, type Clause as PlainClause } from '../shared/nft/nft-rule.ts';
import { LIST_MASK, type Way } from './groups.ts';
import { frontendMap, MOST_CLIENTS_OF_A_LIST } from './nftables-sets.ts';
import { type Clause, frontendKeyOf, translateTo } from './service-clauses.ts';

/** A random slot of a list. */
export interface Draw {
  readonly way: Way;
  readonly slotCount: number;
  /** After a draw of a slot that has no endpoint. */
  readonly isRepeated: boolean;
}

/** Registers: the list twice, as the first part of two keys. */
const LIST = 8;
const ENDPOINT_ID = 9;
const FOUND = 10;
/** The next rule sets the timeout of the client; this applies if that rule is never reached. */
const UNTIL_RETURN_SECONDS = 60;

/** Translates to an endpoint drawn at random. */
export function translate(draw: Draw, family: TableFamily): Clause {
  const { way, slotCount } = draw;
  return {
    ...joined(findList(way, family, [0]), {
      text: `dnat ${family} to ${MARK.text} . ${slotText(slotCount)} map @slots`,
      expressions: [
        randomSlot(1, slotCount),
        x.lookup('slots', 0, FOUND),
        translateTo(FOUND, family),
      ],
    }),
    words: { ...whenRepeated(draw), does: `sends it to ${drawnWords(draw)} of its list (@slots)` },
  };
}

/** Translates to the endpoint that the client had before, if it still exists. */
export function translateAsBefore(way: Way, seconds: number, family: TableFamily): Clause {
  const client = clientText(family);
  const timeout = durationText(seconds);
  const timeoutMs = seconds * 1000;
  const words = addressWords(family);
  const loaded = { text: client, load: [x.loadSourceAddress(family, 1)], at: 0, next: 1 + words };
  return {
    ...joined(findList(way, family, [0, LIST]), find(loaded, 'clients', { to: [ENDPOINT_ID] }), {
      text: `update @clients { ${client} timeout ${timeout} : ${MARK.text} } dnat ${family} to ${MARK.text} . ${MARK.text} map @sticky-endpoints`,
      expressions: [
        x.lookup('sticky-endpoints', LIST, FOUND),
        x.remember('clients', { key: 0, value: ENDPOINT_ID, timeoutMs }),
        translateTo(FOUND, family),
      ],
    }),
    words: {
      does: `sends it where its client was sent in the last ${timeout} (@clients), if that is still an endpoint of its list (@sticky-endpoints)`,
    },
  };
}

/** The list is below its affinity quota. */
export function hasRoom(way: Way, seconds: number, family: TableFamily): Clause {
  const { perDay, burst } = clientLimit(seconds);
  const limit = `limit rate ${perDay}/day burst ${burst} packets`;
  return {
    ...joined(findList(way, family, [0]), {
      text: `update @new-clients { ${MARK.text} timeout ${durationText(seconds)} ${limit} }`,
      expressions: [
        x.limitEach('new-clients', { key: 0, timeoutMs: seconds * 1000, perDay, burst }),
      ],
    }),
    words: { when: 'its list has room for one more affinity entry (@new-clients)' },
  };
}

/** Stores a randomly drawn endpoint for the client, and leaves the chain. */
export function choose(draw: Draw, family: TableFamily): Clause {
  const { way, slotCount } = draw;
  const client = clientText(family);
  const slot = {
    text: `${MARK.text} . ${slotText(slotCount)}`,
    load: [randomSlot(ENDPOINT_ID, slotCount)],
    at: LIST,
    next: FOUND,
  };
  const entry = { key: 0, value: ENDPOINT_ID };
  return {
    ...joined(
      findList(way, family, [0, LIST]),
      find(slot, 'sticky-slots', { to: [ENDPOINT_ID] }),
      {
        // An affinity entry of a removed endpoint would stay: an update changes no value.
        text: `delete @clients { ${client} : ${MARK.text} }`,
        expressions: [x.loadSourceAddress(family, 1), x.forget('clients', entry)],
      },
      {
        text: `update @clients { ${client} timeout ${durationText(UNTIL_RETURN_SECONDS)} : ${MARK.text} } return`,
        expressions: [
          x.remember('clients', { ...entry, timeoutMs: UNTIL_RETURN_SECONDS * 1000 }),
          x.verdict('return'),
        ],
      },
    ),
    words: {
      ...whenRepeated(draw),
      does: `chooses ${drawnWords(draw)} of its list (@sticky-slots) for its client (@clients)`,
    },
  };
}

/** Keeps the number of the list that the packet goes to in these registers. */
function findList(way: Way, family: TableFamily, to: readonly number[]): PlainClause {
  const change = { mask: LIST_MASK[way.listOf], xor: 0 };
  return find(frontendKeyOf(way.where, family), frontendMap(way.where), { to, change });
}

function clientText(family: TableFamily): string {
  return `${MARK.text} . ${sourceAddress(family).text}`;
}

function randomSlot(to: number, slotCount: number): x.Expression {
  return x.randomNumber(to, { modulus: slotCount, offset: 0 });
}

function slotText(slotCount: number): string {
  return `numgen random mod ${slotCount}`;
}

function whenRepeated({ isRepeated }: Draw): { readonly when?: string } {
  return isRepeated ? { when: 'nothing is in that slot' } : {};
}

function drawnWords({ slotCount }: Draw): string {
  if (slotCount === 1) return 'the endpoint in slot 0';
  return `the endpoint in a slot drawn at random from 0 to ${slotCount - 1}`;
}

/** `3h`, `1m30s`, `2d4h`: without parts that are zero. */
function durationText(totalSeconds: number): string {
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

/**
 * The affinity quota of one list: a token bucket of half the quota, which refills within the
 * timeout. So within any timeout at most the quota is added, and because older entries have
 * expired, no more than the quota is ever stored.
 */
const BURST = MOST_CLIENTS_OF_A_LIST / 2;
const SECONDS_PER_DAY = 86_400;

function clientLimit(seconds: number): { readonly perDay: number; readonly burst: number } {
  return { perDay: Math.floor((BURST * SECONDS_PER_DAY) / seconds), burst: BURST };
}
