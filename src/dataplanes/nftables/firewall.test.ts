import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { contains, parseCidr } from '../../addresses/cidr.ts';
import { parseIp } from '../../addresses/ip.ts';
import { compare } from '../../forwarding/testing/rounds.ts';
import { hostNumber } from '../shared/nft/element-keys.ts';
import { binary, prefixMask } from '../shared/nft/prefix.ts';
import { allowedRanges, listName, SourceLists } from './firewall.ts';
import { levelBits, levelOf, prefixLevels, rangeElements } from './source-ranges.ts';

const CIDR = fc
  .record({
    // Few different first bytes, so that ranges lie within each other.
    bytes: fc.tuple(fc.constantFrom(10, 172), fc.nat(3), fc.nat(3), fc.nat(255)),
    length: fc.constantFrom(0, 8, 9, 15, 16, 24, 30, 32),
  })
  .map(({ bytes, length }) => `${bytes.join('.')}/${length}`);
const ADDRESS = fc
  .tuple(fc.constantFrom(10, 172), fc.nat(4), fc.nat(4), fc.nat(255))
  .map((bytes) => bytes.join('.'));

/** Enough separate ranges that none can be merged. */
function manyRanges(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `20.${i >> 8}.${i & 0xff}.${(i * 7) & 0xfc}/30`);
}

function rangeOf(text: string) {
  const range = parseCidr(text);
  assert.ok(range, text);
  return range;
}

describe('source ranges', () => {
  it('allow the same addresses as before they were normalised', () => {
    fc.assert(
      fc.property(fc.array(CIDR, { maxLength: 8 }), ADDRESS, (texts, address) => {
        const ip = parseIp(address);
        assert.ok(ip);
        const isIn = (all: readonly string[]) => all.some((text) => contains(rangeOf(text), ip));
        const kept = allowedRanges(texts, 'IPv4').map(({ text }) => text);
        assert.equal(isIn(kept), isIn(texts));
      }),
      { numRuns: 1000 },
    );
  });

  it('never overlap', () => {
    fc.assert(
      fc.property(fc.array(CIDR, { maxLength: 8 }), (texts) => {
        const kept = allowedRanges(texts, 'IPv4');
        kept.forEach(({ first, last }, index) => {
          assert.ok(first <= last);
          const next = kept[index + 1];
          if (next) assert.ok(last < next.first);
        });
      }),
      { numRuns: 1000 },
    );
  });

  it('are found by one lookup for each prefix length that has a rule', () => {
    fc.assert(
      fc.property(fc.array(CIDR, { maxLength: 8 }), ADDRESS, (texts, address) => {
        const ip = parseIp(address);
        assert.ok(ip);
        const ranges = allowedRanges(texts, 'IPv4');
        const elements = new Set(rangeElements({ number: 7, ranges }).map(({ key }) => key));
        const isFound = prefixLevels('ip').some((level) => {
          const mask = prefixMask(level, 4);
          const masked = binary(ip.bytes.map((byte, i) => byte & mask.charCodeAt(i)));
          return elements.has(hostNumber((7 | levelBits(level)) >>> 0) + masked);
        });
        assert.equal(
          isFound,
          texts.some((text) => contains(rangeOf(text), ip)),
        );
      }),
      { numRuns: 2000 },
    );
  });

  it('have a rule for every prefix length that a range is split into', () => {
    for (const [family, width] of [
      ['ip', 32],
      ['ip6', 128],
    ] as const) {
      const levels = prefixLevels(family);
      assert.equal(new Set(levels).size, levels.length);
      for (let length = 0; length <= width; length++) {
        const level = levelOf(length, family);
        assert.ok(levels.includes(level) && level >= length && level - length < 5, `${length}`);
      }
    }
  });

  it('are one list in any order, and another when they differ', () => {
    fc.assert(
      fc.property(fc.array(CIDR, { maxLength: 6 }), (texts) => {
        const name = (all: readonly string[]) => listName(allowedRanges(all, 'IPv4'));
        assert.equal(name(texts), name(texts.toReversed()));
        assert.equal(name(texts), name([...texts, ...texts]));
        assert.notEqual(name(['192.0.2.0/24']), name([...texts]));
      }),
    );
  });

  it('of the other family are left out, and a single address needs no length', () => {
    const texts = ['10.0.0.0/8', 'fd00::/8', '2001:db8::1', '192.0.2.1'];
    const of = (family: 'IPv4' | 'IPv6') => allowedRanges(texts, family).map(({ text }) => text);
    assert.deepEqual(of('IPv4'), ['10.0.0.0/8', '192.0.2.1/32']);
    assert.deepEqual(of('IPv6'), ['2001:db8::1/128', 'fd00::/8']);
  });

  it('are the fewest possible prefixes, sorted by address', () => {
    fc.assert(
      fc.property(fc.array(CIDR, { maxLength: 12 }), (texts) => {
        const kept = allowedRanges(texts, 'IPv4');
        const intervals = joined(kept.map(({ first, last }) => [numberOf(first), numberOf(last)]));
        const fewest = intervals.reduce((sum, [first, last]) => sum + prefixCount(first, last), 0);
        assert.equal(kept.length, fewest);
        const firsts = kept.map(({ first }) => numberOf(first));
        assert.deepEqual(
          firsts,
          firsts.toSorted((a, b) => a - b),
        );
      }),
      { numRuns: 1000 },
    );
  });

  it('merge neighbours up to all addresses', () => {
    const texts = ['128.0.0.0/1', '0.0.0.0/2', '64.0.0.0/2', '10.0.0.0/8'];
    const [all, ...more] = allowedRanges(texts, 'IPv4');
    assert.deepEqual([all?.text, more], ['0.0.0.0/0', []]);
    const halves = ['fd00::1/128', 'fd00::/128', 'fd00::2/127', 'fd00::4/128'];
    assert.deepEqual(
      allowedRanges(halves, 'IPv6').map(({ text }) => text),
      ['fd00::/126', 'fd00::4/128'],
    );
  });

  it('cost time in proportion to their number', () => {
    const [few, many] = [manyRanges(500), manyRanges(4000)];
    assert.equal(allowedRanges(many, 'IPv4').length, 4000);
    const nameOf = (texts: readonly string[]) => listName(allowedRanges(texts, 'IPv4'));
    const { times, text } = compare({ small: () => nameOf(few), large: () => nameOf(many) });
    assert.ok(times <= 24, `8 times as many ranges cost ${text}`);
  });

  it('are computed once for an array, and have a short name', () => {
    const lists = new SourceLists();
    const texts = manyRanges(1000);
    const list = lists.of(texts, 'IPv4');
    assert.equal(lists.of(texts, 'IPv4'), list);
    assert.equal(list.name, listName(allowedRanges(texts.toReversed(), 'IPv4')));
    assert.ok(list.name.length < 64);
  });
});

function numberOf(bytes: string): number {
  return Buffer.from(bytes, 'latin1').readUInt32BE();
}

/** Merges adjacent intervals of a sorted list. */
function joined(sorted: readonly (readonly [number, number])[]): [number, number][] {
  const found: [number, number][] = [];
  for (const [first, last] of sorted) {
    const before = found.at(-1);
    if (before && before[1] + 1 === first) before[1] = last;
    else found.push([first, last]);
  }
  return found;
}

/** How many prefixes an interval takes: each time the largest that begins where the rest does. */
function prefixCount(first: number, last: number): number {
  let count = 0;
  for (let at = first; at <= last; count++) {
    let size = 2 ** 32;
    while (at % size !== 0 || at + size - 1 > last) size /= 2;
    at += size;
  }
  return count;
}
