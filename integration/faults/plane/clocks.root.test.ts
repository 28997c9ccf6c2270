import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentProgress } from '../../../lab/host/progress.ts';
import { planeFaults, runPlaneFaults } from './run-plane-faults.ts';

const STOPPED_SECONDS = 5;
const MOST_MS = 10 * 60_000;

/** The rest waits for minutes until something is late. */
const WANTED = ['clock set back by an hour', 'clock set forward by a day', 'process stopped'];

test('a node serves on when its wall clock is set, and when its process was stopped', async (t) => {
  const proxy = 'fairlead-nftables';
  const choices = { kills: 1, stoppedSeconds: STOPPED_SECONDS };
  const faults = planeFaults(proxy, choices).filter(({ name }) => WANTED.includes(name));
  assert.equal(faults.length, WANTED.length);
  const signal = AbortSignal.any([t.signal, AbortSignal.timeout(MOST_MS)]);
  const results = await runPlaneFaults(faults, { proxy, progress: silentProgress, signal });
  for (const { fault, outcome, failure } of results) {
    t.diagnostic(`${fault.name}: ${outcome?.lost ?? failure}`);
    assert.equal(failure, undefined, fault.name);
  }
});
