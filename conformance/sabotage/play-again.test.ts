import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { playUntilCounted } from './play-again.ts';
import type { Verdict } from './stage.ts';

const CAUGHT: Verdict = { caught: true, reason: 'a scenario failed' };
const MISSED: Verdict = { caught: false, reason: 'nothing was noticed' };

/** Verdicts one after the other, and the share of the processors that the host took during each. */
async function played(runs: readonly (readonly [Verdict, number])[]) {
  let [plays, measures] = [0, 0];
  const verdict = await playUntilCounted(
    async () => runs[plays++]?.[0] ?? assert.fail('played too often'),
    () => () => runs[measures++]?.[1] ?? 0,
  );
  return { verdict, plays };
}

describe('a sabotage', () => {
  it('that was missed on a quiet machine is missed', async () => {
    assert.deepEqual(await played([[MISSED, 0.05]]), { verdict: MISSED, plays: 1 });
  });

  it('that was caught is caught, whatever the host took', async () => {
    assert.deepEqual(await played([[CAUGHT, 0.9]]), { verdict: CAUGHT, plays: 1 });
  });

  it('that was missed while the host had the processors is played again, and says so', async () => {
    const { verdict, plays } = await played([
      [MISSED, 0.4],
      [CAUGHT, 0],
    ]);
    assert.equal(plays, 2);
    assert.deepEqual(verdict, {
      caught: true,
      reason: 'a scenario failed; run 1 missed it while the host took 40 %',
    });
  });

  it('that is missed three times is missed, however busy the host is', async () => {
    const { verdict, plays } = await played([
      [MISSED, 0.4],
      [MISSED, 0.4],
      [MISSED, 0.4],
    ]);
    assert.equal(plays, 3);
    assert.equal(verdict.caught, false);
  });
});
