import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Round } from '../runner/gate.ts';
import { judgePromptness, MOST_BEHIND_MS, ROUNDS } from './promptness.ts';

function roundsOf(barrierMs: (round: number) => number): Round[] {
  return Array.from({ length: ROUNDS }, (_, round) => ({
    barrierMs: barrierMs(round),
    watcherMs: 10,
  }));
}

function verdictOf(
  barrierMs: (round: number) => number,
  lateness?: { withinMs: number; reason: string },
) {
  return judgePromptness({ proxy: 'one', lateness, rounds: roundsOf(barrierMs) });
}

describe('judgePromptness()', () => {
  it('passes a proxy that is as far behind a bare watcher as it may be, and no farther', () => {
    assert.equal(verdictOf(() => 10 + MOST_BEHIND_MS).verdict, 'prompt');
    assert.equal(verdictOf(() => 11 + MOST_BEHIND_MS).verdict, 'late');
  });

  it('is not moved by a few rounds that were disturbed, nor by a few that were quick', () => {
    assert.equal(verdictOf((round) => (round < 9 ? 5_000 : 40)).verdict, 'prompt');
    assert.equal(verdictOf((round) => (round < 9 ? 40 : 5_000)).verdict, 'late');
  });

  it('says medians and the middle half of both', () => {
    const { reason } = verdictOf((round) => 300 + round);
    assert.match(reason, /20 rounds the barrier took 310 \(304 to 314\) ms/);
    assert.match(reason, /bare watcher 10 \(10 to 10\) ms: 300 ms behind, at most 150 ms/);
  });

  it('gives no verdict for a proxy that may be late', () => {
    const lateness = { withinMs: 10_000, reason: 'waits a second between two syncs' };
    const { verdict, reason, behindMs } = verdictOf(() => 1_010, lateness);
    assert.deepEqual([verdict, reason, behindMs], ['no verdict', lateness.reason, 1_000]);
  });
});
