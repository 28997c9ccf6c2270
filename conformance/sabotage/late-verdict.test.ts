import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ScenarioResult } from '../runner/run-scenario.ts';
import { lateVerdict } from './late-verdict.ts';

function results(of: Record<string, ScenarioResult['result']>): ScenarioResult[] {
  return Object.entries(of).map(([scenario, result]) => ({
    scenario,
    proxy: 'one',
    result,
    ...(result === 'fail'
      ? { reason: `wrong in ${scenario}`, failedBy: 'answer' as const }
      : { reason: '' }),
    milliseconds: 1,
  }));
}

const HEALTHY = results({ a: 'pass', b: 'known-difference' });

describe('lateVerdict()', () => {
  it('counts scenarios that failed, and requires all of them', () => {
    const late = results({ a: 'fail', b: 'fail' });
    assert.deepEqual(lateVerdict({ healthy: HEALTHY, late, blind: {} }), {
      caught: true,
      reason: '2 of 2 scenarios failed',
    });
  });

  it('names a scenario that passed', () => {
    const late = results({ a: 'fail', b: 'known-difference' });
    const { caught, reason } = lateVerdict({ healthy: HEALTHY, late, blind: {} });
    assert.equal(caught, false);
    assert.match(reason, /1 of 2 scenarios failed; nothing was noticed by b/);
  });

  it('does not count a scenario in which the lab failed', () => {
    const [a, b] = results({ a: 'fail', b: 'fail' });
    assert.ok(a && b);
    const late = [a, { ...b, failedBy: 'lab' as const }];
    assert.match(lateVerdict({ healthy: HEALTHY, late, blind: {} }).reason, /1 of 2/);
  });

  it('skips scenarios known to pass, and is not caught by them alone', () => {
    const late = results({ a: 'fail', b: 'pass' });
    const blind = { b: 'nothing of it depends on the change' };
    assert.deepEqual(lateVerdict({ healthy: HEALTHY, late, blind }), {
      caught: true,
      reason: 'wrong in a',
    });
    const onlyBlind = { ...blind, a: 'nor of this' };
    assert.equal(lateVerdict({ healthy: HEALTHY, late, blind: onlyBlind }).caught, false);
  });

  it('is not caught when a scenario fails without lateness', () => {
    const healthy = results({ a: 'fail', b: 'pass' });
    const late = results({ a: 'fail', b: 'fail' });
    const { caught, reason } = lateVerdict({ healthy, late, blind: {} });
    assert.equal(caught, false);
    assert.match(reason, /without sabotage too: a \(wrong in a\)/);
  });
});
