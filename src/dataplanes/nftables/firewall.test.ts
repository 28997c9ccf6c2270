import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { contains, parseCidr } from '../../addresses/cidr.ts';
import { parseIp } from '../../addresses/ip.ts';
import { allowedRanges, listName } from './firewall.ts';

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

function rangeOf(text: string) {
  const range = parseCidr(text);
  assert.ok(range, text);
  return range;
}

describe('source ranges', () => {
  it('allow the same addresses as before they were put in order', () => {
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

  it('never overlap, which the kernel would refuse', () => {
    fc.assert(
      fc.property(fc.array(CIDR, { maxLength: 8 }), (texts) => {
        const kept = allowedRanges(texts, 'IPv4').map(({ element }) => element(7));
        const ordered = kept.toSorted((a, b) => (a.key < b.key ? -1 : 1));
        ordered.forEach(({ key, keyEnd = '' }, index) => {
          assert.ok(key <= keyEnd);
          const next = ordered[index + 1];
          if (next) assert.ok(keyEnd < next.key);
        });
      }),
      { numRuns: 1000 },
    );
  });

  it('are one list however they are ordered, and another when they differ', () => {
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
});
