import assert from 'node:assert/strict';
import { isIPv6 } from 'node:net';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { canonicalIp, formatIp, normalizeIp, parseIp, parseIpSloppily } from './ip.ts';

describe('canonicalIp()', () => {
  const spellings = [
    ['10.0.0.1', '10.0.0.1'],
    ['FD00:0:0:0:0:0:0:1', 'fd00::1'],
    ['0:0:0:0:0:0:0:0', '::'],
    ['1::', '1::'],
    ['1:0:0:2:0:0:0:3', '1:0:0:2::3'],
    ['1:0:2:3:4:5:6:7', '1:0:2:3:4:5:6:7'],
    ['::ffff:10.9.0.2', '10.9.0.2'],
    ['64:ff9b::192.0.2.33', '64:ff9b::c000:221'],
  ] as const;
  for (const [text, canonical] of spellings) {
    it(`spells ${text} as ${canonical}`, () => assert.equal(canonicalIp(text), canonical));
  }

  for (const text of ['', '010.0.0.1', '1.2.3', '1.2.3.256', 'fe80::1%eth0', '1::2::3', 'web']) {
    it(`rejects '${text}'`, () => assert.equal(canonicalIp(text), undefined));
  }
});

describe('parseIp() and formatIp()', () => {
  it('are inverse for every IPv4 address', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 4, maxLength: 4 }), (bytes) => {
        assert.deepEqual(parseIp(formatIp({ version: 4, bytes })), { version: 4, bytes });
      }),
    );
  });

  it('are inverse for every IPv6 address that is not a mapped IPv4 one', () => {
    const sparse = fc.array(fc.oneof(fc.constant(0), fc.nat(255)), {
      minLength: 16,
      maxLength: 16,
    });
    fc.assert(
      fc.property(sparse, (numbers) => {
        const bytes = Uint8Array.from(numbers);
        const text = formatIp({ version: 6, bytes });
        assert.ok(isIPv6(text), text);
        const parsed = parseIp(text);
        if (parsed?.version === 6) assert.deepEqual(parsed.bytes, bytes);
        else assert.deepEqual(parsed?.bytes, bytes.slice(12));
      }),
    );
  });
});

describe('parseIpSloppily()', () => {
  it('reads leading zeros of IPv4 as decimal, as Kubernetes does', () => {
    const read = (text: string): string | undefined => {
      const address = parseIpSloppily(text);
      return address && formatIp(address);
    };
    assert.equal(read('010.0.000.01'), '10.0.0.1');
    assert.equal(read('10.100.0.10'), '10.100.0.10');
    assert.equal(read('fd00::01'), 'fd00::1');
    assert.equal(read('1.2.3'), undefined);
    assert.equal(read('256.0.0.1'), undefined);
  });
});

describe('normalizeIp()', () => {
  it('gives the one spelling and the version', () => {
    assert.deepEqual(normalizeIp('10.0.0.1'), { address: '10.0.0.1', version: 4 });
    assert.deepEqual(normalizeIp('010.0.0.1'), { address: '10.0.0.1', version: 4 });
    assert.deepEqual(normalizeIp('::ffff:10.0.0.1'), { address: '10.0.0.1', version: 4 });
    assert.deepEqual(normalizeIp('FD00:0::1'), { address: 'fd00::1', version: 6 });
    assert.equal(normalizeIp('fd00::1%eth0'), undefined);
  });
});
