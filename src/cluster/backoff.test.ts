import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { Backoff, REFLECTOR_BACKOFF } from './backoff.ts';

it('grows to its limit, and starts over after two minutes without a failure', () => {
  const backoff = new Backoff({ ...REFLECTOR_BACKOFF, random: () => 1 });
  let nowMs = 0;
  const after = (quietMs: number): number => {
    nowMs += quietMs;
    return backoff.afterFailure(nowMs);
  };
  const waits = Array.from({ length: 8 }, () => after(1_000));
  assert.deepEqual(waits, [800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000]);
  assert.equal(after(119_999), 30_000);
  assert.equal(after(120_000), 800);
});

it('is uniform up to the current ceiling', () => {
  const share = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  fc.assert(
    fc.property(fc.array(share, { minLength: 1 }), (draws) => {
      const left = [...draws];
      const backoff = new Backoff({ ...REFLECTOR_BACKOFF, random: () => left.shift() ?? 0 });
      draws.forEach((draw, index) => {
        const limit = Math.min(800 * 2 ** index, 30_000);
        assert.equal(backoff.afterFailure(0), Math.round(limit * draw));
      });
    }),
  );
});
