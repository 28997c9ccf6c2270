import assert from 'node:assert/strict';
import { BlockList } from 'node:net';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { contains, formatCidr, parseCidr } from './cidr.ts';
import { formatIp, type IpAddress } from './ip.ts';

describe('parseCidr()', () => {
  it('drops the bits beyond the prefix', () => {
    const read = (text: string): string | undefined => {
      const cidr = parseCidr(text);
      return cidr && formatCidr(cidr);
    };
    assert.equal(read('10.1.2.3/9'), '10.0.0.0/9');
    assert.equal(read('fd00:1:2::3/32'), 'fd00:1::/32');
    assert.equal(read('0.0.0.0/0'), '0.0.0.0/0');
    assert.equal(read('172.30.2.1/32'), '172.30.2.1/32');
  });

  for (const text of [
    '',
    '10.0.0.1',
    '10.0.0.0/33',
    'fd00::/129',
    '10.0.0.0/-1',
    '10.0.0.0/+8',
    'x/8',
  ]) {
    it(`rejects '${text}'`, () => assert.equal(parseCidr(text), undefined));
  }
});

describe('contains()', () => {
  it("agrees with Node's own BlockList", () => {
    const bytes = (length: number): fc.Arbitrary<Uint8Array> =>
      fc.uint8Array({ minLength: length, maxLength: length });
    const pair = fc.constantFrom(4 as const, 6 as const).chain((version) =>
      fc.record({
        version: fc.constant(version),
        base: bytes(version === 4 ? 4 : 16),
        // Addresses near the range, so that both answers occur.
        flips: fc.array(fc.nat(version === 4 ? 31 : 127), { maxLength: 2 }),
        prefixLength: fc.nat(version === 4 ? 32 : 128),
      }),
    );
    fc.assert(
      fc.property(pair, ({ version, base, flips, prefixLength }) => {
        const near = Uint8Array.from(base);
        for (const bit of flips) near[bit >> 3] = (near[bit >> 3] ?? 0) ^ (0x80 >> (bit & 7));
        const address: IpAddress = { version, bytes: near };
        const text = formatIp({ version, bytes: base });
        const cidr = parseCidr(`${text}/${prefixLength}`);
        const list = new BlockList();
        const family = version === 4 ? 'ipv4' : 'ipv6';
        list.addSubnet(text, prefixLength, family);
        // A mapped IPv4 address is read as IPv4: another length of prefix, not this property's.
        fc.pre(cidr !== undefined && cidr.base.version === version);
        assert.equal(contains(cidr, address), list.check(formatIp(address), family));
      }),
    );
  });
});
