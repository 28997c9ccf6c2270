import type { ScenarioResult } from './run-scenario.ts';

/**
 * Scenarios judge by times of a second and more: answers, timeouts of affinity, how long a forwarder may
 * be silent. A host that takes a tenth of the processors in the mean takes such a time at once now and
 * then.
 */
export const DISTURBED_SHARE = 0.1;
/** A host that is busy for minutes may disturb the next run as well. */
export const MOST_RUNS = 3;

export function isDisturbed(result: ScenarioResult): boolean {
  return result.result === 'fail' && (result.takenShare ?? 0) >= DISTURBED_SHARE;
}

/**
 * Runs again what failed while the host had the processors; every other result stands. The runs that do
 * not count stay in the result.
 */
export async function runDisturbedAgain(
  results: readonly ScenarioResult[],
  runAlone: (scenarios: ReadonlySet<string>) => Promise<readonly ScenarioResult[]>,
): Promise<ScenarioResult[]> {
  const last = new Map(results.map((result) => [result.scenario, result]));
  for (let run = 2; run <= MOST_RUNS; run++) {
    const disturbed = new Set([...last.values()].filter(isDisturbed).map((each) => each.scenario));
    if (disturbed.size === 0) break;
    for (const result of await runAlone(disturbed)) {
      const before = last.get(result.scenario);
      if (before !== undefined) last.set(result.scenario, afterDisturbed(before, result));
    }
  }
  return [...last.values()];
}

function afterDisturbed(before: ScenarioResult, result: ScenarioResult): ScenarioResult {
  const { reason, takenShare = 0, disturbed = [] } = before;
  return { ...result, disturbed: [...disturbed, { reason, takenShare }] };
}
