import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Rest } from './read-pause.ts';

const SECOND = 1000;
const HOUR = 3600 * SECOND;

/** Reads once a second where it may. Resolves to the part of the time that was spent reading. */
function partSpent(rest: Rest, costMs: number): number {
  let spentMs = 0;
  for (let nowMs = 0; nowMs < HOUR; nowMs += SECOND) {
    if (!rest.isOver(nowMs)) continue;
    rest.begin(nowMs, { costMs });
    spentMs += costMs;
  }
  return spentMs / HOUR;
}

describe('Rest', () => {
  it('lets a source be read at once after a single slow reading', () => {
    const rest = new Rest();
    rest.begin(0, { costMs: 90 });
    assert.ok(rest.isOver(1));
  });

  it('rests after a reading that costs more than may be spent ahead', () => {
    const rest = new Rest();
    rest.begin(0, { costMs: 200 });
    assert.ok(!rest.isOver(100 * 49 - 1));
    assert.ok(rest.isOver(100 * 49));
  });

  for (const costMs of [25, 90, 500, 5_000]) {
    it(`spends a fiftieth of the time on readings of ${costMs} ms`, () => {
      const part = partSpent(new Rest(), costMs);
      assert.ok(part > 0.015 && part < 0.022, `${part}`);
    });
  }

  it('does not save up: what was spent before is made up for, and no more', () => {
    const rest = new Rest();
    rest.begin(0, { costMs: 1 });
    rest.begin(HOUR, { costMs: 200 });
    assert.ok(!rest.isOver(HOUR + 4_000));
  });

  it('rests at least as long as it is told', () => {
    const rest = new Rest();
    rest.begin(0, { costMs: 1, leastMs: 30 * SECOND });
    assert.ok(!rest.isOver(29 * SECOND));
    assert.ok(rest.isOver(30 * SECOND));
  });
});
