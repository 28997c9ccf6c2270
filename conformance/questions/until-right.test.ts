import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { untilRight } from './until-right.ts';

/** Wrong so often, and then right. */
function wrong(times: number): { ask: () => Promise<string | undefined>; count: () => number } {
  let count = 0;
  return {
    ask: async () => (count++ < times ? `wrong answer ${count}` : undefined),
    count: () => count,
  };
}

describe('untilRight()', () => {
  it('takes the first answer when no time is granted', async () => {
    const { ask, count } = wrong(1);
    assert.equal(await untilRight(ask, { withinMs: 0 }), 'wrong answer 1');
    assert.equal(count(), 1);
  });

  it('asks again while time is granted, and not after a right answer', async () => {
    const { ask, count } = wrong(2);
    assert.equal(await untilRight(ask, { withinMs: 60_000 }), undefined);
    assert.equal(count(), 3);
  });

  it('says what was wrong at the last attempt', async () => {
    const { ask, count } = wrong(Number.POSITIVE_INFINITY);
    assert.equal(await untilRight(ask, { withinMs: 150 }), `wrong answer ${count()}`);
    assert.ok(count() > 1);
  });

  it('does not ask again for what cannot change', async () => {
    const { ask, count } = wrong(1);
    const granted = { withinMs: 60_000, mayChange: () => false };
    assert.equal(await untilRight(ask, granted), 'wrong answer 1');
    assert.equal(count(), 1);
  });
});
