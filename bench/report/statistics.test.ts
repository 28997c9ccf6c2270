import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { exponentOf, spreadOf, sureOf } from './statistics.ts';

describe('spreadOf()', () => {
  it('is undefined without values', () => {
    assert.equal(spreadOf([]), undefined);
  });
});

describe('exponentOf()', () => {
  const sizes = [500, 5_000, 25_000, 250_000];

  it('finds the power', () => {
    for (const power of [0, 0.5, 1, 2]) {
      const found = exponentOf(sizes.map((x) => ({ x, y: 3 * x ** power })));
      assert.ok(Math.abs((found ?? Number.NaN) - power) < 1e-9);
    }
  });

  it('draws no line through two points', () => {
    assert.equal(exponentOf(sizes.slice(0, 2).map((x) => ({ x, y: x }))), undefined);
  });
});

describe('sureOf()', () => {
  /** The same numbers each time, from 0 to 1. */
  function* numbers(): Generator<number, never> {
    for (let state = 1; ; ) {
      state = (state * 48_271) % 2_147_483_647;
      yield state / 2_147_483_647;
    }
  }

  it('holds the true median 95 times in 100', () => {
    const source = numbers();
    let held = 0;
    for (let trial = 0; trial < 1_000; trial++) {
      const sure = sureOf(Array.from({ length: 100 }, () => source.next().value ** 3));
      if (sure && sure.least <= 0.125 && sure.most >= 0.125) held++;
    }
    assert.ok(held >= 935 && held <= 985, `${held} of 1,000`);
  });

  it('is narrower with more values, and everything with few', () => {
    const source = numbers();
    const widthOf = (length: number): number => {
      const sure = sureOf(Array.from({ length }, () => source.next().value));
      return sure ? sure.most - sure.least : Number.NaN;
    };
    assert.ok(widthOf(1_600) < widthOf(100) / 2);
    assert.deepEqual(sureOf([3, 1, 2]), { count: 3, median: 2, least: 1, most: 3 });
    assert.equal(sureOf([]), undefined);
  });
});
