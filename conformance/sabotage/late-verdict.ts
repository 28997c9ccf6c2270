import type { ScenarioResult } from '../runner/run-scenario.ts';
import type { Verdict } from './stage.ts';

/**
 * Whether every scenario noticed that its changes came late, but for those that are known not to.
 * Each has to pass with a proxy in time.
 */
export function lateVerdict(of: {
  readonly healthy: readonly ScenarioResult[];
  readonly late: readonly ScenarioResult[];
  /** By name, with the reason. */
  readonly blind: Readonly<Record<string, string>>;
}): Verdict {
  const ill = of.healthy.filter(({ result }) => result === 'fail');
  if (ill.length > 0) {
    return { caught: false, reason: `fail without sabotage too: ${listed(ill)}` };
  }
  const expected = of.late.filter(({ scenario }) => !(scenario in of.blind));
  const noticed = expected.filter(hasWrongAnswer);
  if (expected.length === 0) return { caught: false, reason: 'nothing was asked' };
  const count = `${noticed.length} of ${expected.length} scenarios failed`;
  if (noticed.length < expected.length) {
    const missed = expected.filter((each) => !hasWrongAnswer(each));
    return { caught: false, reason: `${count}; nothing was noticed by ${listed(missed)}` };
  }
  const [only] = noticed;
  return { caught: true, reason: noticed.length === 1 ? (only?.reason ?? '') : count };
}

/** One that the barrier gave up on has not been asked. */
function hasWrongAnswer({ failedBy }: ScenarioResult): boolean {
  return failedBy === 'answer';
}

function listed(results: readonly ScenarioResult[]): string {
  return results
    .map(({ scenario, reason }) => (reason ? `${scenario} (${reason})` : scenario))
    .join(', ');
}
