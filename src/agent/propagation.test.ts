import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { endpoint, service, slice } from '../forwarding/testing/example-objects.ts';
import { VirtualClock } from '../time/testing/virtual-clock.ts';
import type { Acknowledged, Propagation } from './observer.ts';
import { Stage } from './testing/agent-stage.ts';
import { rejection } from './testing/fake-plane.ts';

/** The time from an event to the kernel; a timer of a millisecond would take longer. */
const MOST_TURNS = 8;

class Measured {
  readonly all: Propagation[] = [];
  onAcknowledged({ propagations }: Acknowledged): void {
    this.all.push(...propagations);
  }
}

async function started(clock: VirtualClock, measured: Measured): Promise<Stage> {
  const stage = new Stage(clock, { observers: [measured] }).start();
  await clock.settle();
  stage.source.service(service({ healthCheckNodePort: 0 }));
  stage.source.slice(slice([endpoint('10.0.0.1')], { triggeredAtMs: clock.wallMs() }));
  stage.complete();
  await clock.until('the first sync', () => stage.isEqual());
  return stage;
}

test('does not measure the first lists', async () => {
  const measured = new Measured();
  await using _stage = await started(new VirtualClock(), measured);
  assert.deepEqual(measured.all, []);
});

test('a change is measured once, from its receipt and from its trigger, until it is in the kernel', async () => {
  const clock = new VirtualClock();
  const measured = new Measured();
  await using stage = await started(clock, measured);
  let isOpen = false;
  stage.plane.fault = () => {
    if (!isOpen) throw rejection('BUSY', 'not now');
  };
  const triggeredAtMs = clock.wallMs() - 2000;
  await clock.pass(5000);
  const receivedAtMs = clock.monotonicMs();
  const triggeredAgainAtMs = clock.wallMs();
  stage.source.slice(slice([endpoint('10.0.0.2')], { triggeredAtMs }));
  await clock.pass(1000);
  stage.source.slice(slice([endpoint('10.0.0.3')], { triggeredAtMs: triggeredAgainAtMs }));
  await clock.pass(50);
  isOpen = true;
  await clock.until('the change', () => measured.all.length > 0);
  const waitedMs = clock.monotonicMs() - receivedAtMs;
  assert.ok(waitedMs >= 1000);
  // The first trigger was before the start of the process, so it is not our latency.
  const [{ service: name, totalMs, sinceTriggeredMs, families } = assert.fail()] = measured.all;
  assert.deepEqual(
    { name, totalMs, sinceTriggeredMs, families },
    {
      name: 'ns/web',
      totalMs: waitedMs,
      sinceTriggeredMs: [waitedMs],
      families: ['IPv4'],
    },
  );
  assert.equal(measured.all.length, 1);
  assert.equal(stage.agent.snapshot().propagation.received.count, 1);
});

test('measures a trigger when the wall clock is set, before its receipt and after', async () => {
  const clock = new VirtualClock();
  const measured = new Measured();
  await using stage = await started(clock, measured);
  // The clock was an hour ahead and is corrected.
  clock.jumpWall(-3_600_000);
  const triggeredAtMs = clock.wallMs();
  await clock.pass(100);
  stage.plane.fault = () => {
    clock.jumpWall(24 * 3_600_000);
    stage.plane.fault = () => undefined;
  };
  stage.source.slice(slice([endpoint('10.0.0.2')], { triggeredAtMs }));
  await clock.until('the change', () => measured.all.length > 0);
  assert.deepEqual(measured.all[0]?.sinceTriggeredMs, [100]);
});

test('measures a deleted slice, and drops a change that was undone', async () => {
  const clock = new VirtualClock();
  const measured = new Measured();
  await using stage = await started(clock, measured);
  stage.source.gone('slice', 'ns/web-1');
  await clock.until('the deletion', () => measured.all.length === 1);
  stage.plane.fault = () => {
    throw rejection('BUSY', 'not now');
  };
  stage.source.slice(slice([endpoint('10.0.0.2')]));
  await clock.settle();
  stage.source.gone('slice', 'ns/web-1');
  await clock.settle();
  stage.plane.fault = () => undefined;
  await clock.pass(60_000);
  assert.equal(measured.all.length, 1);
  assert.deepEqual(stage.agent.snapshot().rows, { desired: 2, applied: 2, pending: 0 });
});

test('waits for no timer between the event and the acknowledgement', async () => {
  const clock = new VirtualClock();
  const measured = new Measured();
  await using stage = await started(clock, measured);
  const turns: number[] = [];
  for (let round = 0; round < 100; round++) {
    const before = measured.all.length;
    stage.source.slice(slice([endpoint(`10.0.1.${round}`)]));
    let count = 0;
    for (; measured.all.length === before && count < MOST_TURNS; count++) await turn();
    turns.push(count);
  }
  // This clock goes on only when everything else rests: a wait would have cost time.
  assert.deepEqual(new Set(measured.all.map(({ totalMs }) => totalMs)), new Set([0]));
  assert.equal(measured.all.length, 100);
  assert.ok(Math.max(...turns) < MOST_TURNS, `turns of the event loop: ${turns.join(', ')}`);
});
