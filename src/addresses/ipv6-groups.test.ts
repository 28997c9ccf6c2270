import assert from 'node:assert/strict';
import { isIPv6 } from 'node:net';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ipv6Groups } from './ipv6-groups.ts';

describe('ipv6Groups()', () => {
  const spellings = [
    ['::', [0, 0, 0, 0, 0, 0, 0, 0]],
    ['::1', [0, 0, 0, 0, 0, 0, 0, 1]],
    ['1::', [1, 0, 0, 0, 0, 0, 0, 0]],
    ['FD00::a:00b0', [0xfd00, 0, 0, 0, 0, 0, 0xa, 0xb0]],
    ['1:2:3:4:5:6:7:8', [1, 2, 3, 4, 5, 6, 7, 8]],
    ['1:2:3::5:6:7:8', [1, 2, 3, 0, 5, 6, 7, 8]],
  ] as const;
  for (const [text, groups] of spellings) {
    it(`reads ${text}`, () => assert.deepEqual(ipv6Groups(text), groups));
  }

  it('reads no address with an IPv4 address or a zone', () => {
    for (const text of ['::ffff:10.0.0.1', 'fe80::1%eth0', '10.0.0.1']) {
      assert.equal(ipv6Groups(text), undefined, text);
    }
  });

  it('accepts and rejects what Node does', () => {
    const part = fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(':', '::') },
      { weight: 4, arbitrary: fc.constantFrom('0', '1', 'ab', '0cd', 'FFFF') },
      { weight: 1, arbitrary: fc.constantFrom('12345', 'g', ' ', '-1', 'İ') },
    );
    const text = fc.array(part, { maxLength: 17 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, (each) => assert.equal(ipv6Groups(each) !== undefined, isIPv6(each))),
      { numRuns: 20_000 },
    );
  });
});
