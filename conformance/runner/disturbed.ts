import type { DisturbedRun, ScenarioResult } from './run-scenario.ts';

/**
 * Scenarios judge by times of a second and more: answers, timeouts of affinity, how long a forwarder may
 * be silent. A host that takes a tenth of the processors in the mean takes such a time at once now and
 * then.
 */
const DISTURBED_SHARE = 0.1;
/** A host that is busy for minutes may disturb the next run as well. */
const MOST_RUNS = 3;

export function isDisturbed(result: ScenarioResult): boolean {
  return result.result === 'fail' && (result.takenShare ?? 0) >= DISTURBED_SHARE;
}

/**
 * Runs again, one by one, what failed while the host had the processors; every other result stands. The
 * runs that do not count stay in the result.
 */
export async function runDisturbedAgain(
  results: readonly ScenarioResult[],
  runAlone: (scenario: string, runsBefore: number) => Promise<ScenarioResult>,
): Promise<ScenarioResult[]> {
  const final: ScenarioResult[] = [];
  for (const first of results) {
    const disturbed: DisturbedRun[] = [];
    let last = first;
    while (isDisturbed(last) && disturbed.length < MOST_RUNS - 1) {
      disturbed.push({ reason: last.reason, takenShare: last.takenShare ?? 0 });
      last = await runAlone(last.scenario, disturbed.length);
    }
    final.push(disturbed.length === 0 ? last : { ...last, disturbed });
  }
  return final;
}
