import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  type Class,
  classChain,
  classId,
  classOfId,
  classSetOf,
  type Treatment,
} from './classes.ts';
import { timeOutStep } from './nftables-row.ts';
import { sizeBelow, sizeFor, sizesUpTo } from './sizes.ts';

const OWN: readonly Treatment[] = ['cluster', 'masquerade', 'plain', 'local', 'local-host'];
const DRAWS: readonly Treatment[] = ['pick', 'choose'];
/** The range that the API accepts for the affinity timeout. */
const MOST_SECONDS = 86_400;

const WHERE = fc.constantFrom('service', 'nodeport');
const SIZE = fc.integer({ min: 1, max: 200_000 }).map(sizeFor);
const SECONDS = fc.oneof(
  fc.constant(0),
  fc.integer({ min: 1, max: MOST_SECONDS }).map(timeOutStep),
);
const amounts = ({ size, seconds }: { size: number; seconds: number }) =>
  seconds === 0 ? { size, stickySeconds: 0 } : { size: 0, stickySeconds: seconds };

const CLASS: fc.Arbitrary<Class> = fc
  .record({ where: WHERE, size: SIZE, seconds: SECONDS, listOf: fc.constantFrom('own', 'cluster') })
  .chain(({ where, listOf, ...sizes }) => {
    const plain = { size: sizes.size, stickySeconds: 0 };
    return fc.oneof(
      fc.constantFrom(...OWN).map((treatment): Class => {
        return { where, treatment, listOf: 'own', ...amounts(sizes) };
      }),
      fc.constant<Class>({ where, treatment: 'short', listOf: 'cluster', ...amounts(sizes) }),
      fc.constantFrom(...DRAWS).map((treatment): Class => ({ where, treatment, listOf, ...plain })),
    );
  });

/** The second list without affinity is drawn from in one way, from every class. */
const chainOf = (rowClass: Class) =>
  rowClass.treatment === 'short' && rowClass.stickySeconds === 0
    ? { ...rowClass, treatment: 'pick' }
    : rowClass;

describe('the number of a class', () => {
  it('fits four bytes and decodes to the class', () => {
    fc.assert(
      fc.property(CLASS, (rowClass) => {
        const id = classId(rowClass);
        assert.ok(Number.isInteger(id) && id > 0 && id < 2 ** 32, String(id));
        assert.deepEqual(classOfId(id, classSetOf(rowClass)), rowClass);
      }),
      { numRuns: 2000 },
    );
  });

  it('is unique, and so is its chain', () => {
    fc.assert(
      fc.property(CLASS, CLASS, (one, other) => {
        const isSame = JSON.stringify(one) === JSON.stringify(other);
        const place = (rowClass: Class) => `${classSetOf(rowClass)} ${classId(rowClass)}`;
        assert.equal(place(one) === place(other), isSame);
        const isSameChain = JSON.stringify(chainOf(one)) === JSON.stringify(chainOf(other));
        assert.equal(classChain(one) === classChain(other), isSameChain);
      }),
      { numRuns: 2000 },
    );
  });

  it('is recognised when it is not one of ours', () => {
    for (const id of [0x0600_0001, 0x0700_0001, 0x8600_0001, 0xffff_ffff]) {
      assert.equal(classOfId(id, 'class-chains'), undefined, id.toString(16));
    }
  });
});

describe('sizes', () => {
  it('have room for the list, with at most a third of it empty', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000_000 }), (count) => {
        const size = sizeFor(count);
        assert.ok(size >= count && size <= count * 1.5, `${count} in ${size}`);
        assert.ok(sizeBelow(size) < count, `${sizeBelow(size)} slots are all filled`);
        assert.equal(sizeFor(size), size);
      }),
    );
  });

  it('are few', () => {
    assert.equal(sizesUpTo(4096).length, 32);
    assert.equal(sizesUpTo(1_000_000).at(-1), 786_432);
    for (const size of sizesUpTo(100_000).slice(1))
      assert.equal(sizeFor(sizeBelow(size) + 1), size);
  });
});

describe('time-outs', () => {
  it('are never shortened, and never lengthened by more than a sixth', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: MOST_SECONDS }), (seconds) => {
        const step = timeOutStep(seconds);
        assert.ok(step >= seconds && step <= seconds * (7 / 6), `${seconds} became ${step}`);
      }),
    );
  });

  it('are exact for common values, and few in all', () => {
    for (const exact of [1, 10, 30, 60, 90, 300, 600, 1800, 3600, 7200, 10_800, 43_200, 86_400]) {
      assert.equal(timeOutStep(exact), exact);
    }
    const all = new Set(Array.from({ length: MOST_SECONDS }, (_, index) => timeOutStep(index + 1)));
    assert.ok(all.size < 300, `${all.size} steps`);
  });
});
