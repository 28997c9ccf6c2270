import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseProxies } from './contestants.ts';
import { leftToDo, NO_PROXY } from './left-to-do.ts';
import type { Machine } from './machine.ts';
import { planSteps } from './plan.ts';
import type { Run } from './record.ts';
import { emptyRun } from './run-file.ts';
import { parseSizes } from './sizes.ts';

const planOf = (proxies: string) => ({
  contestants: parseProxies(proxies),
  sizes: parseSizes('100x5'),
  measures: ['change', 'data'] as const,
  rounds: 1,
});

/** Everything of the plan has been visited but these. */
function runWithout(plan: ReturnType<typeof planOf>, missing: readonly string[]): Run {
  const run = emptyRun({ machine: {} as Machine, startedAt: '', planted: undefined });
  for (const { size, round, contestant } of planSteps(plan)) {
    const proxy = contestant?.name ?? NO_PROXY;
    if (!missing.includes(proxy)) run.visits.push({ size, round, proxy, tookSeconds: 1 });
  }
  return run;
}

describe('leftToDo()', () => {
  const plan = planOf('fairlead-socket-ebpf,fairlead-nftables');

  it('asks from inside a cgroup even when the proxies that need it are measured already', () => {
    const { steps, hasSocketPlaces } = leftToDo(plan, runWithout(plan, ['fairlead-nftables']));
    const names = new Set(steps.map(({ contestant }) => contestant?.name));
    assert.deepEqual([...names], ['fairlead-nftables']);
    assert.equal(hasSocketPlaces, true);
  });

  it('asks from outside where no proxy of the plan needs one', () => {
    const without = planOf('fairlead-nftables,upstream-nftables');
    assert.equal(leftToDo(without, runWithout(without, [NO_PROXY])).hasSocketPlaces, false);
  });
});
