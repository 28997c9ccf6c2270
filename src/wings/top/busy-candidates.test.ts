import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ServicePortKey } from '../../forwarding/model.ts';
import { candidatesOf, type Known } from './busy-candidates.ts';

const keyOf = (at: number): ServicePortKey =>
  `ns/s${String(at).padStart(5, '0')}` as ServicePortKey;
const MANY = new Set(Array.from({ length: 5_000 }, (_, at) => keyOf(at)));
const NOTHING: Omit<Known, 'keys'> = {
  heard: new Map(),
  newInTotals: new Map(),
  rejected: new Map(),
  live: new Map(),
};
/** As many as there are, each of another count, in no order. */
const counts = (): Map<ServicePortKey, number> =>
  new Map(Array.from(MANY, (_, at) => [keyOf((at * 1_237) % 5_000), 1 + ((at * 1_237) % 5_000)]));

describe('candidatesOf', () => {
  it('takes all of a few', () => {
    const keys = new Set([keyOf(2), keyOf(1)]);
    assert.deepEqual(candidatesOf({ ...NOTHING, keys }), [keyOf(2), keyOf(1)]);
  });

  it('takes the hundred busiest of many, the busiest first', () => {
    const found = candidatesOf({ ...NOTHING, keys: MANY, heard: counts() });
    assert.deepEqual(
      found,
      Array.from({ length: 100 }, (_, at) => keyOf(4_999 - at)),
    );
  });

  it('takes the first by name of those that are as busy', () => {
    const heard = new Map([...MANY].toReversed().map((key) => [key, 7]));
    const found = candidatesOf({ ...NOTHING, keys: MANY, heard });
    assert.deepEqual(
      found,
      Array.from({ length: 100 }, (_, at) => keyOf(at)),
    );
  });

  it('ranks by the largest of new, total and rejected, and fills up with open ones', () => {
    const found = candidatesOf({
      keys: MANY,
      heard: new Map([[keyOf(1), 5]]),
      newInTotals: new Map([[keyOf(2), 9]]),
      rejected: new Map([
        [keyOf(3), { rejectedPerSecond: 4, droppedPerSecond: 3, rejected: 0, dropped: 0 }],
        [keyOf(4), { rejectedPerSecond: 0, droppedPerSecond: 0, rejected: 8, dropped: 0 }],
      ]),
      live: counts(),
    });
    assert.equal(found.length, 100);
    assert.deepEqual(found.slice(0, 4), [keyOf(2), keyOf(3), keyOf(1), keyOf(4_999)]);
  });

  it('leaves out what is not served', () => {
    const heard = new Map([['ns/gone' as ServicePortKey, 100]]);
    assert.deepEqual(candidatesOf({ ...NOTHING, keys: MANY, heard }), []);
  });
});
