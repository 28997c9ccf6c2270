import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runDisturbedAgain } from './disturbed.ts';
import type { ScenarioResult } from './run-scenario.ts';

type Run = Pick<ScenarioResult, 'result' | 'takenShare'>;
/** How each run of a scenario ends. */
type Plan = Readonly<Record<string, readonly Run[]>>;

const QUIET = 0.09;
const BUSY = 0.57;

const failedIn = (takenShare: number): Run => ({ result: 'fail', takenShare });
const PASSED: Run = { result: 'pass' };

/** What counts in the end. It throws if a scenario is run more often than planned. */
async function play(plan: Plan): Promise<ScenarioResult[]> {
  const runs = new Map<string, number>();
  const next = (scenario: string): ScenarioResult => {
    const number = (runs.get(scenario) ?? 0) + 1;
    runs.set(scenario, number);
    const run = plan[scenario]?.[number - 1];
    assert.ok(run, `${scenario} was run once too often`);
    const reason = run.result === 'fail' ? `fault ${number}` : '';
    return { scenario, proxy: 'fairlead-nftables', reason, milliseconds: 1, ...run };
  };
  const first = Object.keys(plan).map(next);
  return await runDisturbedAgain(first, (names) => Promise.resolve([...names].map(next)));
}

async function playOne(...runs: readonly Run[]): Promise<ScenarioResult> {
  const [result, ...others] = await play({ 'affinity/expires': runs });
  assert.ok(result && others.length === 0);
  return result;
}

describe('a scenario that failed', () => {
  it('is not run again on a quiet machine', async () => {
    const result = await playOne(failedIn(QUIET));
    assert.deepEqual([result.result, result.disturbed], ['fail', undefined]);
  });

  it('is run again where the host had the processors, and the next run counts', async () => {
    const result = await playOne(failedIn(BUSY), PASSED);
    assert.equal(result.result, 'pass');
    assert.deepEqual(result.disturbed, [{ reason: 'fault 1', takenShare: BUSY }]);
  });

  it('fails when it fails without the host', async () => {
    const result = await playOne(failedIn(BUSY), failedIn(0));
    assert.deepEqual([result.result, result.reason], ['fail', 'fault 2']);
  });

  it('fails when the host disturbs every run', async () => {
    const result = await playOne(failedIn(BUSY), failedIn(BUSY), failedIn(BUSY));
    assert.deepEqual([result.result, result.reason], ['fail', 'fault 3']);
    assert.deepEqual(
      result.disturbed?.map(({ reason }) => reason),
      ['fault 1', 'fault 2'],
    );
  });
});

it('one that passed is not run again, whatever the host took', async () => {
  const result = await playOne({ result: 'pass', takenShare: BUSY });
  assert.deepEqual([result.result, result.disturbed], ['pass', undefined]);
});

it('of several only the disturbed ones are run again, and each keeps its place', async () => {
  const results = await play({
    a: [PASSED],
    b: [failedIn(BUSY), failedIn(BUSY), PASSED],
    c: [failedIn(QUIET)],
    d: [failedIn(BUSY), PASSED],
  });
  assert.deepEqual(
    results.map(({ scenario, result, disturbed }) => [scenario, result, disturbed?.length]),
    [
      ['a', 'pass', undefined],
      ['b', 'pass', 2],
      ['c', 'fail', undefined],
      ['d', 'pass', 1],
    ],
  );
});
