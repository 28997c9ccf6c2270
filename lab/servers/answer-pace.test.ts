import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { AnswerPace } from './answer-pace.ts';

describe('AnswerPace', () => {
  it('goes on after so many answers of others', async () => {
    const pace = new AnswerPace();
    let gone = 0;
    const waits = [2, 3].map((more) => pace.after(more).then(() => gone++));
    pace.note();
    pace.note();
    await waits[0];
    assert.equal(gone, 1);
    pace.note();
    await Promise.all(waits);
  });

  it('goes on when no other has answered for two seconds', async (t: TestContext) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const pace = new AnswerPace();
    let isGone = false;
    const wait = pace.after(5).then(() => {
      isGone = true;
    });
    t.mock.timers.tick(1_500);
    pace.note();
    t.mock.timers.tick(1_500);
    await Promise.resolve();
    assert.equal(isGone, false);
    t.mock.timers.tick(500);
    await wait;
  });
});
