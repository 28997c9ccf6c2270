import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  type Class,
  chainSeconds,
  classChain,
  classId,
  classOfId,
  classSetOf,
  type Treatment,
} from './classes.ts';

const TREATMENTS: readonly Treatment[] = [
  'cluster',
  'masquerade',
  'plain',
  'local',
  'local-host',
  'short',
];
/** What the API takes for the timeout of a client. */
const MOST_SECONDS = 86_400;
/** Beyond it the count of a sticky class has no room; slots of the second list begin there too. */
const MOST_COUNT = 65_535;

const CLASS: fc.Arbitrary<Class> = fc.record({
  where: fc.constantFrom('service', 'nodeport'),
  treatment: fc.constantFrom(...TREATMENTS),
  count: fc.oneof(fc.nat(40), fc.integer({ min: 1000, max: 1050 }), fc.nat(MOST_COUNT)),
  stickySeconds: fc.oneof(fc.constant(0), fc.nat(200), fc.nat(MOST_SECONDS)),
});

/** As the kernel is told it: with very many endpoints, whole minutes. */
const rounded = (of: Class): Class => ({ ...of, stickySeconds: chainSeconds(of) });

describe('the number of a class', () => {
  it('fits four bytes and tells the class again', () => {
    fc.assert(
      fc.property(CLASS, (of) => {
        const id = classId(of);
        assert.ok(Number.isInteger(id) && id > 0 && id < 2 ** 32, String(id));
        assert.deepEqual(classOfId(id, of.where), rounded(of));
      }),
      { numRuns: 2000 },
    );
  });

  it('is that of no other class, and neither is its chain', () => {
    fc.assert(
      fc.property(CLASS, CLASS, (one, other) => {
        const isSame = JSON.stringify(rounded(one)) === JSON.stringify(rounded(other));
        const place = (of: Class) => `${classSetOf(of)} ${classId(of)}`;
        const isSameBut = one.where === other.where && classId(one) === classId(other);
        assert.equal(isSameBut, isSame);
        assert.equal(classChain(one) === classChain(other), isSame);
        if (!isSame) assert.notEqual(place(one), place(other));
      }),
      { numRuns: 2000 },
    );
  });

  it('never makes a client be forgotten earlier than it should', () => {
    fc.assert(
      fc.property(CLASS, (of) => {
        assert.ok(chainSeconds(of) >= of.stickySeconds);
        assert.ok(chainSeconds(of) < of.stickySeconds + 60);
      }),
    );
  });

  it('that is none of ours is recognised as such', () => {
    for (const id of [0, 7, 0x0700_0001, 0x8000_0001, 0xffff_ffff]) {
      assert.equal(classOfId(id, 'service'), undefined, id.toString(16));
    }
  });
});
