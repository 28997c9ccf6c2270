import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { silentProgress } from '../../../../../lab/host/progress.ts';
import { planeFaults, runPlaneFaults } from '../run-plane-faults.ts';

const MOST_MS = 10 * 60_000;

/** Lets the named faults happen to a node; fails with the name of the first that it did not survive. */
export async function survives(
  t: TestContext,
  of: {
    readonly proxy: Parameters<typeof planeFaults>[0];
    readonly choices: Parameters<typeof planeFaults>[1];
    readonly wanted: readonly string[];
  },
): Promise<void> {
  const { proxy, choices, wanted } = of;
  const faults = planeFaults(proxy, choices).filter(({ name }) => wanted.includes(name));
  assert.equal(faults.length, wanted.length);
  const signal = AbortSignal.any([t.signal, AbortSignal.timeout(MOST_MS)]);
  const results = await runPlaneFaults(faults, { proxy, progress: silentProgress, signal });
  for (const { fault, outcome, failure } of results) {
    t.diagnostic(`${fault.name}: ${outcome?.lost ?? failure}`);
    assert.equal(failure, undefined, fault.name);
  }
}
