import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Slice } from './ask.ts';
import { figuresOf } from './data-path.ts';

const slice = (count: number, more: Partial<Slice> = {}): Slice => {
  return { count, seconds: 0.01, cpuSeconds: 0.008, failed: 0, ...more };
};

describe('figuresOf()', () => {
  it('compares slices that ran beside each other, and no others', () => {
    const { rateShares, cpuShares, direct, beside } = figuresOf('request', {
      to: { slices: [slice(1_000), slice(500), slice(800)] },
      beside: { slices: [slice(900), slice(450, { failed: 2 }), slice(800)] },
    });
    assert.deepEqual(rateShares, [0.9, 0.9, 1]);
    assert.deepEqual(cpuShares, [1.111, 1.111, 1]);
    assert.equal(Math.round(direct.perSecond), 80_000);
    assert.equal(Math.round(beside.cpuMicroseconds), 10);
    assert.equal(beside.failed, 2);
  });

  it('counts a slice in which only the Service gave no answer as a rate of 0', () => {
    const { rateShares, cpuShares, pairsLeftOut, beside } = figuresOf('request', {
      to: { slices: [slice(1_000), slice(1_000), slice(1_000)] },
      beside: { slices: [slice(0), slice(900), slice(0)] },
    });
    assert.deepEqual(rateShares, [0, 0.9, 0]);
    assert.deepEqual(cpuShares, [1.111]);
    assert.equal(pairsLeftOut, 0);
    assert.equal(beside.perSecond, 0);
  });

  it('leaves out a pair in which the pod itself gave no answer, and says so', () => {
    const { rateShares, cpuShares, pairsLeftOut } = figuresOf('request', {
      to: { slices: [slice(0), slice(1_000), slice(0)] },
      beside: { slices: [slice(900), slice(900), slice(0)] },
    });
    assert.deepEqual(rateShares, [0.9]);
    assert.deepEqual(cpuShares, [1.111]);
    assert.equal(pairsLeftOut, 2);
  });
});
