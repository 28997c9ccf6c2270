import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LookPace } from './look-pace.ts';

const PACE = { everyMs: 250, atLeastEveryMs: 5000 };

test('looks take a hundredth of a processor, and never wait for ever', () => {
  assert.equal(new LookPace(PACE).restMs(1), 250);
  assert.equal(new LookPace(PACE).restMs(8), 800);
  assert.equal(new LookPace(PACE).restMs(900), 5000);
});

test('a look that other work came in between does not make the next one late', () => {
  const pace = new LookPace(PACE);
  pace.restMs(1);
  assert.equal(pace.restMs(40), 250);
  const grown = Array.from({ length: 8 }, () => pace.restMs(6)).at(-1);
  assert.equal(grown, 600);
});
