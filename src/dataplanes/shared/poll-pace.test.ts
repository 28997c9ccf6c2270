import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PollPace } from './poll-pace.ts';

const PACE = { everyMs: 250, atLeastEveryMs: 5000 };

test('spends a hundredth of a processor on polls, and pauses no longer than the limit', () => {
  assert.equal(new PollPace(PACE).restMs(1), 250);
  assert.equal(new PollPace(PACE).restMs(8), 800);
  assert.equal(new PollPace(PACE).restMs(900), 5000);
});

test('does not delay the next poll when other work ran during one', () => {
  const pace = new PollPace(PACE);
  pace.restMs(1);
  assert.equal(pace.restMs(40), 250);
  const grown = Array.from({ length: 8 }, () => pace.restMs(6)).at(-1);
  assert.equal(grown, 600);
});
