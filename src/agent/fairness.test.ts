import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { VirtualClock } from '../time/testing/virtual-clock.ts';
import { Stage } from './testing/agent-stage.ts';
import { endpointsOf, numbered, startedStage } from './testing/many.ts';

test('writes a change of another namespace in the next step of a flood', async () => {
  const clock = new VirtualClock();
  await using stage = await startedStage(clock);
  for (let index = 0; index < 5000; index++) stage.source.service(numbered('flood', index));
  await clock.until('a first step of the flood', () => stage.plane.applied.length > 0);
  const steps = stage.plane.applied.length;
  stage.source.service(numbered('quiet', 60_000));
  await clock.until('the other row', () => stage.plane.kernel.has('quiet/s60000/TCP/IPv4'));
  // One may have been under way when it came.
  const needed = stage.plane.applied.length - steps;
  assert.ok(needed <= 2, `after ${needed} steps`);
  assert.ok(stage.plane.kernel.size < 1000, `${stage.plane.kernel.size} rows of the flood before`);
  await clock.until('all', () => stage.isEqual());
});

test('compiles a change of another namespace while one namespace has much to compile', async () => {
  const clock = new VirtualClock();
  await using stage = await startedStage(clock, { objectsPerStep: 2000 });
  const large = Array.from({ length: 200 }, (_, index) => numbered('flood', index));
  for (const each of large) stage.source.slice(endpointsOf(each, 500));
  for (const each of large) stage.source.service(each);
  stage.source.service(numbered('quiet', 60_000));
  await clock.until('the other row', () => stage.plane.kernel.has('quiet/s60000/TCP/IPv4'));
  assert.ok(stage.plane.kernel.size < 20, `${stage.plane.kernel.size} rows of the flood before`);
  const { desired } = stage.agent.snapshot().rows;
  assert.ok(desired < 40, `${desired} rows compiled before`);
  assert.equal(stage.agent.conditions().synced.isTrue, false);
  await clock.until('all', () => stage.isEqual());
  assert.deepEqual(stage.plane.violations, []);
  assert.equal(stage.agent.snapshot().rows.desired, 201);
  assert.equal(stage.agent.conditions().synced.isTrue, true);
});

test('compiles the whole cluster of a start in steps, and answers in between', async () => {
  const clock = new VirtualClock();
  await using stage = new Stage(clock, { random: () => 0.5 });
  stage.start();
  await clock.settle();
  const large = Array.from({ length: 60 }, (_, index) => numbered('ns', index));
  for (const each of large) stage.source.service(each);
  for (const each of large) stage.source.slice(endpointsOf(each, 500));
  stage.complete();
  const compiled = new Set<number>();
  for (let turn = 0; turn < 1000 && stage.plane.count('inspect everything') === 0; turn++) {
    compiled.add(stage.agent.snapshot().rows.desired);
    await nextTurn();
  }
  assert.ok(compiled.size >= 5, `only ${[...compiled].join(', ')} rows were seen`);
  assert.equal(stage.agent.snapshot().rows.desired, large.length);
  await clock.until('all', () => stage.isEqual());
  assert.deepEqual(stage.plane.violations, []);
});

test('measures every change once, also when they are compiled a few at a time', async () => {
  const clock = new VirtualClock();
  const measured: string[] = [];
  await using stage = await startedStage(clock, {
    objectsPerStep: 2000,
    observers: [
      {
        onAcknowledged: ({ propagations }) => {
          measured.push(...propagations.map(({ service }) => service));
        },
      },
    ],
  });
  const large = Array.from({ length: 60 }, (_, index) => numbered(`ns${index % 2}`, index));
  for (const each of large) stage.source.service(each);
  for (const each of large) stage.source.slice(endpointsOf(each, 500));
  await clock.until('all', () => stage.isEqual());
  assert.deepEqual(
    measured.sort(),
    large.map(({ namespace, name }) => `${namespace}/${name}`).sort(),
  );
});

test('keeps a transaction within the objects that the plane allows', async () => {
  const clock = new VirtualClock();
  await using stage = await startedStage(clock, { objectsPerStep: 2000 });
  for (let index = 0; index < 50; index++) {
    const each = numbered(`ns${index % 3}`, index);
    stage.source.service(each);
    stage.source.slice(endpointsOf(each, 900));
  }
  await clock.until('all', () => stage.isEqual());
  assert.deepEqual(stage.plane.violations, []);
  assert.ok(stage.plane.count('apply') >= 25);
  assert.equal(stage.plane.count('part'), 0);
});
