import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runDisturbedAgain } from './disturbed.ts';
import type { ScenarioResult } from './run-scenario.ts';

type Run = Pick<ScenarioResult, 'result' | 'takenShare'>;

const QUIET = 0.09;
const BUSY = 0.57;

/** What counts in the end, and in how many runs, where each run ends as planned. */
async function play(...[first, ...more]: readonly [Run, ...Run[]]): Promise<ScenarioResult> {
  const resultOf = (run: Run, number: number): ScenarioResult => ({
    scenario: 'affinity/expires',
    proxy: 'fairlead-nftables',
    reason: run.result === 'fail' ? `fault ${number}` : '',
    milliseconds: 1,
    ...run,
  });
  const [result, ...others] = await runDisturbedAgain([resultOf(first, 1)], (_, runsBefore) => {
    const next = more[runsBefore - 1];
    assert.ok(next, 'it was run once too often');
    return Promise.resolve(resultOf(next, runsBefore + 1));
  });
  assert.ok(result && others.length === 0);
  return result;
}

describe('a scenario that failed', () => {
  it('is not run again on a quiet machine', async () => {
    const result = await play({ result: 'fail', takenShare: QUIET });
    assert.deepEqual([result.result, result.disturbed], ['fail', undefined]);
  });

  it('is run again where the host had the processors, and the next run counts', async () => {
    const result = await play({ result: 'fail', takenShare: BUSY }, { result: 'pass' });
    assert.equal(result.result, 'pass');
    assert.deepEqual(result.disturbed, [{ reason: 'fault 1', takenShare: BUSY }]);
  });

  it('fails when it fails without the host', async () => {
    const next = { result: 'fail', takenShare: 0 } as const;
    const result = await play({ result: 'fail', takenShare: BUSY }, next);
    assert.deepEqual([result.result, result.reason], ['fail', 'fault 2']);
  });

  it('fails when the host disturbs every run', async () => {
    const run = { result: 'fail', takenShare: BUSY } as const;
    const result = await play(run, run, run);
    assert.deepEqual([result.result, result.reason], ['fail', 'fault 3']);
    assert.equal(result.disturbed?.length, 2);
  });
});

it('one that passed is not run again, whatever the host took', async () => {
  const result = await play({ result: 'pass', takenShare: BUSY });
  assert.deepEqual([result.result, result.disturbed], ['pass', undefined]);
});
