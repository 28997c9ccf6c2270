import assert from 'node:assert/strict';
import { test } from 'node:test';
import { VirtualClock } from '../time/testing/virtual-clock.ts';
import { livez } from './conditions.ts';
import type { Acknowledged } from './observer.ts';
import { Stage } from './testing/agent-stage.ts';
import { rejection } from './testing/fake-plane.ts';
import { numbered, synced } from './testing/many.ts';

/** What observers of an agent are told. */
function acknowledgements() {
  const seen: Acknowledged[] = [];
  return { seen, observers: [{ onAcknowledged: (a: Acknowledged) => void seen.push(a) }] };
}

test('reports the removed row to observers when an unknown row is removed', async () => {
  const clock = new VirtualClock();
  const { seen, observers } = acknowledgements();
  await using stage = new Stage(clock, { observers });
  await synced(clock, stage, 1);
  const [[key, row] = ['', undefined]] = stage.plane.kernel;
  stage.plane.faultAfterWrite = () => {
    throw new Error('broken off');
  };
  stage.source.service(numbered('ns', 0, { affinitySeconds: 7 }));
  await clock.until('a rejection', () => stage.agent.snapshot().failingRowCount === 1);
  stage.plane.faultAfterWrite = () => undefined;
  stage.source.gone('service', 'ns/s00000');
  await clock.until('the removal', () => stage.isEqual());
  assert.deepEqual(seen.at(-1)?.changes, [{ key, before: row, after: undefined }]);
  assert.deepEqual(stage.plane.violations, []);
});

test('reports a removal by an inspection to observers', async () => {
  const clock = new VirtualClock();
  const { seen, observers } = acknowledgements();
  await using stage = new Stage(clock, { observers });
  await synced(clock, stage, 1);
  const [[key, row] = ['', undefined]] = stage.plane.kernel;
  stage.plane.fault = (call) => {
    if (call === 'apply') throw rejection('BAD', 'rejected');
  };
  stage.source.gone('service', 'ns/s00000');
  await clock.until('the removal', () => stage.isEqual());
  await clock.settle();
  assert.deepEqual(seen.at(-1)?.changes, [{ key, before: row, after: undefined }]);
});

test('inspects once for a burst of drift, soon after its first report, and writes what was lost', async () => {
  const clock = new VirtualClock();
  await using stage = new Stage(clock);
  await synced(clock, stage, 50);
  const lostAtMs = clock.monotonicMs();
  const keys = [...stage.plane.kernel.keys()].slice(0, 40);
  for (const key of keys) {
    stage.plane.lose(key);
    await Promise.resolve();
  }
  assert.equal(stage.agent.conditions().undisturbed.isTrue, false);
  await clock.until('repair', () => stage.isEqual());
  assert.ok(clock.monotonicMs() - lostAtMs < 50, `${clock.monotonicMs() - lostAtMs} ms`);
  assert.equal(stage.plane.count('inspect reported'), 1);
  assert.equal(stage.plane.applied.at(-1)?.length, 40);
  const { drifts, driftCount, lastInspection } = stage.agent.snapshot();
  assert.equal(driftCount, 40);
  assert.equal(drifts.length, 10);
  assert.deepEqual(drifts.at(-1)?.by, { pid: 7, program: 'nft' });
  assert.equal(lastInspection?.reason, 'drift');
});

test('does not count a failure of our own as a change by another process', async () => {
  const clock = new VirtualClock();
  await using stage = new Stage(clock);
  await synced(clock, stage, 5);
  stage.plane.reportDrift({ what: 'retrying packet hooks', isOwn: true });
  assert.equal(stage.agent.conditions().undisturbed.isTrue, true);
  assert.equal(stage.agent.snapshot().driftCount, 0);
});

test('inspects again for drift during an inspection', async () => {
  const clock = new VirtualClock();
  await using stage = new Stage(clock);
  await synced(clock, stage, 5);
  const [one = '', two = ''] = stage.plane.kernel.keys();
  let isFirst = true;
  stage.plane.fault = (call) => {
    if (call !== 'inspect reported' || !isFirst) return;
    isFirst = false;
    // After the inspection has started: only a second one can find it.
    queueMicrotask(() => stage.plane.lose(two));
  };
  stage.plane.lose(one);
  await clock.until('both', () => stage.plane.count('inspect reported') === 2 && stage.isEqual());
});

test('leaves nothing of a damaged row whose Service is deleted before the repair', async () => {
  const clock = new VirtualClock();
  await using stage = new Stage(clock);
  await synced(clock, stage, 2);
  stage.plane.fault = (call) => {
    if (call === 'apply') throw rejection('BUSY', 'not now');
  };
  stage.plane.spoil('ns/s00001/TCP/IPv4');
  await clock.pass(100);
  stage.source.gone('service', 'ns/s00001');
  await clock.settle();
  assert.equal(stage.plane.kernel.size, 2);
  stage.plane.fault = () => undefined;
  await clock.pass(1000);
  assert.deepEqual([...stage.plane.kernel.keys()], ['ns/s00000/TCP/IPv4']);
  assert.deepEqual(stage.agent.snapshot().rows, { desired: 1, applied: 1, pending: 0 });
});

test('restarts a watch that failed, with a full inspection', async () => {
  const clock = new VirtualClock();
  await using stage = new Stage(clock);
  await synced(clock, stage, 5);
  stage.plane.endWatch?.(rejection('OVERRUN', 'events were lost'));
  await clock.settle();
  assert.equal(stage.agent.conditions().watching.isTrue, false);
  const [key = ''] = stage.plane.kernel.keys();
  stage.plane.lose(key);
  await clock.until('repair', () => stage.isEqual());
  assert.equal(stage.agent.conditions().watching.isTrue, true);
  assert.equal(stage.agent.snapshot().lastInspection?.reason, 'watch was interrupted');
});

test('finds an unreported loss in the periodic inspection', async () => {
  const clock = new VirtualClock();
  await using stage = new Stage(clock);
  await synced(clock, stage, 5);
  const [key = ''] = stage.plane.kernel.keys();
  stage.plane.kernel.delete(key);
  const lostAtMs = clock.monotonicMs();
  await clock.until('repair', () => stage.isEqual());
  const afterMs = clock.monotonicMs() - lostAtMs;
  assert.ok(afterMs > 500_000 && afterMs < 700_000, `${afterMs} ms`);
});

test('keeps the backoff of failed inspections, also when the periodic one is due', async () => {
  const clock = new VirtualClock();
  await using stage = new Stage(clock);
  await synced(clock, stage, 5);
  stage.plane.fault = () => {
    throw rejection('GONE', 'the plane is gone');
  };
  await clock.pass(1_200_000);
  const { calls } = stage.plane;
  assert.ok(calls.length > 20 && calls.length < 60, `${calls.length} calls`);
  assert.equal(livez(stage.agent.conditions()).ok, false);
  stage.plane.fault = () => undefined;
  await clock.pass(31_000);
  assert.equal(livez(stage.agent.conditions()).ok, true);
});

test('inspects the kernel once when a row fails repeatedly', async () => {
  const clock = new VirtualClock();
  await using stage = new Stage(clock);
  await synced(clock, stage, 5);
  await clock.pass(60_000);
  stage.plane.fault = (call, changes) => {
    if (call === 'apply' && changes.some(({ key }) => key.includes('s00001'))) {
      throw rejection('BAD', 'rejected');
    }
  };
  stage.source.service(numbered('ns', 1, { affinitySeconds: 5 }));
  await clock.pass(300_000);
  assert.equal(stage.plane.count('inspect everything'), 2);
});
