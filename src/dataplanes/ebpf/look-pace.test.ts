import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LookPace } from './look-pace.ts';

test('looks take a hundredth of a processor, and never wait for ever', () => {
  assert.equal(new LookPace().restMs(1), 250);
  assert.equal(new LookPace().restMs(8), 800);
  assert.equal(new LookPace().restMs(900), 5000);
});

test('a look that other work came in between does not make the next one late', () => {
  const pace = new LookPace();
  pace.restMs(1);
  assert.equal(pace.restMs(40), 250);
  const grown = Array.from({ length: 8 }, () => pace.restMs(6)).at(-1);
  assert.equal(grown, 600);
});
