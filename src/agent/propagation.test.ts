import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../cluster/clock.ts';
import { endpoint, service, slice } from '../forwarding/testing/objects.ts';
import type { Acknowledged, Propagation } from './observer.ts';
import { refusal } from './testing/fake-plane.ts';
import { Stage } from './testing/stage.ts';
import { VirtualClock } from './testing/virtual-clock.ts';

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

test('the first lists are no changes', async () => {
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
    if (!isOpen) throw refusal('BUSY', 'not now');
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
  // The first trigger was before the start of the process: it says nothing about us.
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

test('a trigger is measured when the wall clock is set, before its receipt and after', async () => {
  const clock = new VirtualClock();
  const measured = new Measured();
  await using stage = await started(clock, measured);
  // What was an hour ahead is put right.
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

test('a deleted slice and a change that was taken back', async () => {
  const clock = new VirtualClock();
  const measured = new Measured();
  await using stage = await started(clock, measured);
  stage.source.gone('slice', 'ns/web-1');
  await clock.until('the deletion', () => measured.all.length === 1);
  stage.plane.fault = () => {
    throw refusal('BUSY', 'not now');
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

/** The median of three hundred changes. */
async function medianMs(): Promise<number> {
  const clock: Clock = {
    monotonicMs: () => performance.now(),
    wallMs: () => Date.now(),
    sleep: (ms, signal) => delay(ms, undefined, { signal }).catch(() => assert.ok(signal.aborted)),
  };
  const measured = new Measured();
  await using stage = new Stage(clock, { observers: [measured] }).start();
  stage.source.service(service());
  stage.complete();
  const giveUpAt = performance.now() + 10_000;
  for (let i = 0; measured.all.length < 300 && performance.now() < giveUpAt; i++) {
    stage.source.slice(slice([endpoint(`10.0.${i >> 8}.${i & 255}`)]));
    await delay(1);
  }
  const { p50Ms, count } = stage.agent.snapshot().propagation.received;
  assert.ok(count >= 300);
  return p50Ms;
}

test('from the event to the acknowledgement it takes well below a millisecond', async () => {
  // By the clock, so a crowded machine may spoil some tries; what the code itself takes comes each time.
  const tried: number[] = [];
  while (tried.length < 5) {
    const p50Ms = await medianMs();
    if (p50Ms < 1) return;
    tried.push(p50Ms);
  }
  assert.fail(`medians of ${tried.join(', ')} ms`);
});
