import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentProgress } from '../../../lab/host/progress.ts';
import { planeFaults, runPlaneFaults } from './run-plane-faults.ts';

const KILLS = 3;
const MOST_MS = 10 * 60_000;

/** The rest takes minutes, or measures times that a machine full of tests cannot keep. */
const WANTED = [`${KILLS} x kill -9`, 'programs replaced under connections', 'writes to maps fail'];

test('a node in mode socket-ebpf survives some of its faults', async (t) => {
  const proxy = 'fairlead-socket-ebpf';
  const faults = planeFaults(proxy, { kills: KILLS }).filter(({ name }) => WANTED.includes(name));
  assert.equal(faults.length, WANTED.length);
  const signal = AbortSignal.any([t.signal, AbortSignal.timeout(MOST_MS)]);
  const results = await runPlaneFaults(faults, { proxy, progress: silentProgress, signal });
  for (const { fault, outcome, failure } of results) {
    t.diagnostic(`${fault.name}: ${outcome?.lost ?? failure}`);
    assert.equal(failure, undefined, fault.name);
  }
});
