import assert from 'node:assert/strict';
import { test } from 'node:test';
import { VirtualClock } from '../time/testing/virtual-clock.ts';
import { livez, readyz } from './conditions.ts';
import type { Stage } from './testing/agent-stage.ts';
import { rejection } from './testing/fake-plane.ts';
import { endpointsOf, numbered, startedStage } from './testing/many.ts';

const OBJECTS_PER_STEP = 2000;
const HUGE = numbered('hostile', 1);
const HUGE_KEY = 'hostile/s00001/TCP/IPv4';

async function withHuge(clock: VirtualClock, endpointCount = 100_000): Promise<Stage> {
  const stage = await startedStage(clock, { objectsPerStep: OBJECTS_PER_STEP });
  stage.source.slice(endpointsOf(HUGE, endpointCount));
  stage.source.service(HUGE);
  return stage;
}

/** Each part takes time, in which other things can happen. */
function slowDown({ plane }: Stage, clock: VirtualClock, ms: number): void {
  const { applyPart } = plane;
  plane.applyPart = async (change) => {
    await clock.sleep(ms, new AbortController().signal);
    return (await applyPart?.(change)) ?? 'finished';
  };
}

async function partsWritten(clock: VirtualClock, stage: Stage, count: number): Promise<void> {
  await clock.until(`${count} parts`, () => stage.plane.count('part') >= count);
}

test('writes a large row in parts, and others between two of them', async () => {
  const clock = new VirtualClock();
  await using stage = await withHuge(clock);
  await partsWritten(clock, stage, 3);
  for (let index = 10; index < 15; index++) {
    const parts = stage.plane.count('part');
    stage.source.service(numbered(`quiet${index}`, index));
    await clock.until('the other row', () => stage.plane.kernel.size === index - 9);
    assert.ok(stage.plane.count('part') - parts <= 3, `${stage.plane.count('part') - parts} parts`);
  }
  assert.equal(stage.plane.kernel.has(HUGE_KEY), false);
  await clock.until('all', () => stage.isEqual());
  assert.equal(stage.plane.count('part'), 51);
  assert.deepEqual(stage.plane.violations, []);
});

test('finishes the parts of a change before it writes a newer desired state', async () => {
  const clock = new VirtualClock();
  await using stage = await withHuge(clock);
  await partsWritten(clock, stage, 5);
  stage.source.slice(endpointsOf(HUGE, 3));
  await clock.until('all', () => stage.isEqual());
  const sizes = stage.plane.applied.flat().map(({ after }) => after?.clusterEndpoints.length);
  assert.deepEqual(sizes, [100_000, 3]);
  assert.deepEqual(stage.plane.violations, []);
});

test('leaves nothing to do when the old state is desired again before the last part', async () => {
  const clock = new VirtualClock();
  await using stage = await withHuge(clock, 10);
  await clock.until('a small one', () => stage.isEqual());
  stage.source.slice(endpointsOf(HUGE, 20_000));
  await partsWritten(clock, stage, 2);
  stage.source.slice(endpointsOf(HUGE, 10));
  await clock.until('all', () => stage.isEqual() && stage.agent.snapshot().rows.pending === 0);
  assert.deepEqual(stage.plane.violations, []);
});

test('removes a large row whose Service is deleted while its parts are written', async () => {
  const clock = new VirtualClock();
  await using stage = await withHuge(clock);
  await partsWritten(clock, stage, 5);
  stage.source.gone('service', 'hostile/s00001');
  stage.source.service(numbered('quiet', 1));
  await clock.until('all', () => stage.isEqual());
  assert.deepEqual([...stage.plane.kernel.keys()], ['quiet/s00001/TCP/IPv4']);
  assert.deepEqual(stage.plane.violations, []);
  assert.equal(stage.agent.snapshot().failingRowCount, 0);
});

test('restarts a row after a rejected part, with the delay of a rejected row', async () => {
  const clock = new VirtualClock();
  await using stage = await withHuge(clock);
  await partsWritten(clock, stage, 5);
  stage.plane.fault = (call) => {
    if (call === 'part') throw rejection('NOMEM', 'out of memory');
  };
  const before = stage.plane.count('part');
  await clock.pass(10_000);
  const attempts = stage.plane.count('part') - before;
  assert.ok(attempts >= 4 && attempts <= 10, `${attempts} attempts in ten seconds`);
  const { failingRows, conditions } = stage.agent.snapshot();
  assert.deepEqual(
    failingRows.map(({ key, error }) => [key, error.code]),
    [[HUGE_KEY, 'NOMEM']],
  );
  assert.equal(livez(conditions).ok, true);
  stage.plane.fault = () => undefined;
  await clock.until('all', () => stage.isEqual());
  assert.deepEqual(stage.plane.violations, []);
});

test('restarts a row after an inspection between two parts', async () => {
  const clock = new VirtualClock();
  await using stage = await withHuge(clock, 20_000);
  slowDown(stage, clock, 10);
  stage.source.service(numbered('quiet', 7));
  await partsWritten(clock, stage, 3);
  stage.plane.lose('quiet/s00007/TCP/IPv4');
  await clock.until('all', () => stage.isEqual());
  assert.equal(stage.plane.count('inspect everything'), 2);
  assert.ok(stage.plane.count('part') > 11, 'more parts than the row has');
  assert.deepEqual(stage.plane.violations, []);
});

test('restarts a row after an inspection that failed between two parts', async () => {
  const clock = new VirtualClock();
  await using stage = await withHuge(clock, 20_000);
  slowDown(stage, clock, 10);
  stage.source.service(numbered('quiet', 7));
  await partsWritten(clock, stage, 3);
  stage.plane.fault = (call) => {
    if (call.startsWith('inspect')) throw rejection('GONE', 'cannot be read');
  };
  stage.plane.lose('quiet/s00007/TCP/IPv4');
  await clock.pass(1000);
  stage.plane.fault = () => undefined;
  await clock.until('all', () => stage.isEqual());
  assert.deepEqual(stage.plane.violations, []);
});

test('separates large rows that exchange addresses', async () => {
  const clock = new VirtualClock();
  await using stage = await startedStage(clock, { objectsPerStep: OBJECTS_PER_STEP });
  const [a, b] = [numbered('ns', 1), numbered('ns', 2)];
  for (const each of [a, b]) stage.source.slice(endpointsOf(each, 5000));
  for (const each of [a, b]) stage.source.service(each);
  await clock.until('both', () => stage.isEqual());
  stage.source.service({ ...a, clusterIPs: b.clusterIPs });
  stage.source.service({ ...b, clusterIPs: a.clusterIPs });
  await clock.until('all', () => stage.isEqual());
  const removed = stage.plane.applied.flat().filter(({ after }) => after === undefined);
  assert.equal(removed.length, 1);
  assert.deepEqual(stage.plane.violations, []);
  assert.equal(stage.agent.snapshot().failingRowCount, 0);
});

test('separates large rows that exchange addresses also when parts of them are rejected', async () => {
  const clock = new VirtualClock();
  await using stage = await startedStage(clock, { objectsPerStep: OBJECTS_PER_STEP });
  const [a, b] = [numbered('ns', 1), numbered('ns', 2)];
  for (const each of [a, b]) stage.source.slice(endpointsOf(each, 5000));
  for (const each of [a, b]) stage.source.service(each);
  await clock.until('both', () => stage.isEqual());
  stage.plane.fault = (call) => {
    if (call === 'part') throw rejection('NOMEM', 'out of memory');
  };
  stage.source.service({ ...a, clusterIPs: b.clusterIPs });
  stage.source.service({ ...b, clusterIPs: a.clusterIPs });
  await clock.pass(5000);
  stage.plane.fault = () => undefined;
  const healedAtMs = clock.monotonicMs();
  await clock.until('all', () => stage.isEqual());
  assert.ok(clock.monotonicMs() - healedAtMs < 60_000, `${clock.monotonicMs() - healedAtMs} ms`);
  assert.deepEqual(stage.plane.violations, []);
});

test('frees an address before a large row gets it, and after a large row released it', async () => {
  const clock = new VirtualClock();
  await using stage = await startedStage(clock, { objectsPerStep: OBJECTS_PER_STEP });
  const [a, b, c] = [numbered('ns', 1), numbered('ns', 2), numbered('other', 3)];
  stage.source.slice(endpointsOf(b, 9000));
  for (const each of [a, b]) stage.source.service(each);
  await clock.until('both', () => stage.isEqual());
  stage.source.service({ ...c, clusterIPs: b.clusterIPs });
  stage.source.service({ ...b, clusterIPs: a.clusterIPs });
  stage.source.gone('service', 'ns/s00001');
  await clock.until('all', () => stage.isEqual());
  assert.deepEqual(stage.plane.violations, []);
  assert.equal(stage.agent.snapshot().failingRowCount, 0);
});

test('stays healthy while parts are accepted, and becomes unhealthy when none is', async () => {
  const clock = new VirtualClock();
  await using stage = await withHuge(clock);
  slowDown(stage, clock, 10_000);
  await clock.pass(200_000);
  assert.equal(stage.plane.kernel.has(HUGE_KEY), false);
  assert.deepEqual(readyz(stage.agent.conditions()), { ok: true, failing: [] });
  const hanging = Promise.withResolvers<'finished'>();
  stage.plane.applyPart = () => hanging.promise;
  await clock.pass(75_000);
  assert.deepEqual(livez(stage.agent.conditions()).failing, ['timely.IPv4']);
  hanging.reject(rejection('LATE', 'too late'));
});
