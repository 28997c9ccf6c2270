import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Outcome } from './outcome.ts';
import { rareChiSquareLimit, unevenDraws, unevenSpread } from './spread.ts';

/** Numbers from 0 to 1 that are the same in every run (mulberry32). */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function draws(count: number, size: number, seed = 1): number[] {
  const random = generator(seed);
  return Array.from({ length: count }, () => Math.floor(random() * size));
}

describe('unevenDraws()', () => {
  for (const size of [2, 1_000, 5_000]) {
    it(`accepts fair draws from ${size} endpoints`, () => {
      for (let seed = 1; seed <= 200; seed++) {
        assert.equal(unevenDraws(draws(1_500, size, seed), size), undefined);
      }
    });
  }

  it('accepts endpoints in turn, wherever the first connection begins', () => {
    for (const begin of [0, 1, 450, 899]) {
      const inTurn = Array.from({ length: 1_000 }, (_, index) => (begin + index) % 900);
      assert.equal(unevenDraws(inTurn, 900), undefined);
    }
  });

  it('rejects endpoints in turn when it sees too few to know that all take turns', () => {
    const some = Array.from({ length: 600 }, (_, index) => index);
    assert.match(unevenDraws(some, 1_000) ?? '', /uneven/);
  });

  it('rejects draws from one half of the endpoints', () => {
    assert.match(unevenDraws(draws(1_500, 500), 1_000) ?? '', /uneven/);
  });

  it('rejects draws from every second endpoint', () => {
    const even = draws(1_500, 500).map((index) => index * 2);
    assert.match(unevenDraws(even, 1_000) ?? '', /uneven/);
  });

  it('rejects one endpoint that gets a tenth of all', () => {
    const random = generator(7);
    const skewed = draws(1_500, 1_000).map((index) => (random() < 0.1 ? 3 : index));
    assert.match(unevenDraws(skewed, 1_000) ?? '', /uneven/);
  });

  it('rejects favourites that are spread evenly over all cells', () => {
    // One of every 20 neighbours, so chosen that every residue of 50 has one, too.
    const few = draws(1_500, 50).map((cell) => cell * 20 + Math.floor(cell / 5));
    assert.match(unevenDraws(few, 1_000) ?? '', /only 50 endpoints/);
  });

  it('throws for too few draws', () => {
    assert.throws(() => unevenDraws([1, 2, 3], 1_000), TypeError);
  });
});

/** The probability that chi-square exceeds this value: exact for an even number of degrees. */
function tail(value: number, degrees: number): number {
  let term = Math.exp(-value / 2);
  let sum = term;
  for (let i = 1; i < degrees / 2; i++) {
    term *= value / 2 / i;
    sum += term;
  }
  return sum;
}

describe('rareChiSquareLimit()', () => {
  it('is exceeded at most once in 1e9, and not much less often', () => {
    for (const degrees of [10, 20, 48, 100]) {
      const probability = tail(rareChiSquareLimit(degrees), degrees);
      assert.ok(probability < 1e-9 && probability > 1e-10, `${degrees}: ${probability}`);
    }
  });
});

describe('unevenSpread()', () => {
  const over = { pod: 'crowd', numbers: { from: 1, to: 2 } };
  const by = (name: string): Outcome => ({ kind: 'answered', by: name, source: '10.0.0.1' });
  const fair = Array.from({ length: 100 }, (_, i) => by(`crowd#${1 + (i % 2)}`));

  it('accepts answers of all numbers', () => {
    assert.equal(unevenSpread(over, fair), undefined);
  });

  it('rejects an answer of a number outside the range, of another pod, and none', () => {
    assert.match(unevenSpread(over, [...fair, by('crowd#3')]) ?? '', /crowd#3 should not/);
    assert.match(unevenSpread(over, [...fair, by('other#1')]) ?? '', /other#1 should not/);
    assert.match(unevenSpread(over, [...fair, by('crowd')]) ?? '', /crowd should not/);
    assert.match(unevenSpread(over, [...fair, { kind: 'silent' }]) ?? '', /no answer/);
  });
});
