import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InspectionPlan } from './inspection-plan.ts';

const MOST_MS = 30_000;

function planAt(nowMs: number): InspectionPlan {
  const plan = new InspectionPlan(() => 0.5);
  plan.done('everything', { startedAtMs: nowMs, nowMs, routineMs: 600_000 });
  return plan;
}

test('inspects soon after drift, and is not delayed by more of it', () => {
  const plan = planAt(0);
  for (let atMs = 100; atMs < 200; atMs += 5) plan.wantAfterDrift(atMs);
  assert.equal(plan.nextAtMs(false), 120);
  assert.equal(plan.take(119, true), undefined);
  assert.equal(plan.take(120, false)?.depth, 'reported');
  assert.equal(plan.take(121, true), undefined);
});

test('leaves half of the time for other work under continuous drift', () => {
  const plan = planAt(0);
  plan.wantAfterDrift(1000);
  plan.take(1020, true);
  plan.done('reported', { startedAtMs: 1020, nowMs: 1520, routineMs: 600_000 });
  plan.wantAfterDrift(1521);
  assert.equal(plan.nextAtMs(true), 2020);
});

test('prefers a full inspection to suspects, and keeps it after more drift', () => {
  const plan = planAt(0);
  plan.wantAfterDrift(1000);
  plan.wantEverything('watch was interrupted', 1001);
  plan.wantAfterDrift(1002);
  const { depth, sinceMs, notBeforeMs } = plan.wanted ?? {};
  assert.deepEqual([depth, sinceMs, notBeforeMs], ['everything', 1000, 1001]);
});

test('delays the periodic inspection until nothing else is pending', () => {
  const plan = planAt(0);
  assert.equal(plan.take(700_000, false), undefined);
  assert.equal(plan.nextAtMs(true), 600_000);
  assert.equal(plan.take(700_000, true)?.reason, 'routine');
});

test('retries a failed inspection with backoff, and inspects everything', () => {
  const plan = planAt(0);
  plan.wantAfterDrift(1_000_000);
  let nowMs = plan.nextAtMs(true);
  const waits: number[] = [];
  for (let i = 0; i < 12; i++) {
    const taken = plan.take(nowMs, true);
    assert.ok(taken);
    plan.failed(taken, { nowMs, mostMs: MOST_MS });
    assert.equal(plan.wanted?.sinceMs, 1_000_000);
    assert.equal(plan.wanted?.depth, 'everything');
    waits.push(plan.nextAtMs(true) - nowMs);
    nowMs = plan.nextAtMs(true);
  }
  assert.deepEqual(waits.slice(0, 3), [150, 300, 600]);
  assert.equal(waits.at(-1), 0.75 * MOST_MS);
});
