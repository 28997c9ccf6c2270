import assert from 'node:assert/strict';
import { test } from 'node:test';
import { VirtualClock } from '../time/testing/virtual-clock.ts';
import { livez, readyz } from './conditions.ts';
import type { PartReport } from './observer.ts';
import { endpointsOf, numbered, startedStage } from './testing/many.ts';

test('names a row that is written in parts, and stays healthy', async () => {
  const clock = new VirtualClock();
  const parts: PartReport[] = [];
  const observers = [{ onPart: (part: PartReport) => void parts.push(part) }];
  await using stage = await startedStage(clock, { objectsPerStep: 2000, observers });
  assert.equal(stage.agent.conditions().unpaced.isTrue, true);
  const huge = numbered('default', 1);
  stage.source.slice(endpointsOf(huge, 100_000));
  stage.source.service(huge);
  await clock.until('three parts', () => parts.length === 3);
  const { unpaced, ...rest } = stage.agent.conditions();
  assert.equal(unpaced.isTrue, false);
  assert.equal(unpaced.why, 'default/s00001 is written in parts: 6,000 of 100,001 objects');
  assert.deepEqual([livez({ ...rest, unpaced }).ok, readyz({ ...rest, unpaced }).ok], [true, true]);
  assert.equal(stage.agent.snapshot().pace.rowCount, 1);
  await clock.until('all', () => stage.isEqual());
  assert.equal(stage.agent.conditions().unpaced.isTrue, true);
  assert.deepEqual(parts.at(-1)?.isFinished, true);
  assert.equal(parts.length, 51);
});

test('names a namespace whose rows are queued for more than a second', async () => {
  const clock = new VirtualClock();
  await using stage = await startedStage(clock);
  const hanging = Promise.withResolvers<void>();
  const { apply } = stage.plane;
  stage.plane.apply = async (changes) => {
    await hanging.promise;
    await apply.call(stage.plane, changes);
  };
  for (let index = 0; index < 300; index++) stage.source.service(numbered('flood', index));
  await clock.pass(1500);
  const { unpaced } = stage.agent.conditions();
  assert.match(unpaced.why, /^namespace flood: 300 rows have been waiting for 1\.5 s$/);
  assert.ok(stage.agent.snapshot().pace.longestWaitMs >= 1500);
  hanging.resolve();
  await clock.until('all', () => stage.isEqual());
});
