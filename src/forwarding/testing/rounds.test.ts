import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compare, figureOf, processorFigure } from './rounds.ts';

function work(steps: number): () => void {
  let sum = 0;
  return () => {
    for (let step = 0; step < steps * 50_000; step++) sum += Math.sqrt(step);
    assert.ok(sum > 0);
  };
}

describe('compare()', () => {
  it('distinguishes work that is eight times as much from equal work', () => {
    assert.ok(compare({ small: work(4), large: work(4) }).times < 3);
    const { times, text } = compare({ small: work(4), large: work(32) });
    assert.ok(times > 4 && times < 16, text);
  });

  it('counts work after an await', async () => {
    const after = (some: () => void) => async (): Promise<void> => {
      await Promise.resolve();
      some();
    };
    const [small, large] = [work(4), work(32)].map(after);
    assert.ok(small && large);
    const [few, many] = [await processorFigure(small), await processorFigure(large)];
    assert.ok(many.median > few.median * 4, `${many.text}, ${few.text}`);
  });

  it('is not changed by a single fast or slow round', () => {
    const round = [1, 9, 9, 9, 9];
    assert.equal(figureOf(round).median, 9);
    assert.equal(figureOf(round.map((value) => 10 - value)).median, 1);
    assert.equal(figureOf([4, 1, 2, 3, 5]).text, '3.00 (2.00 to 4.00) ms');
  });
});
