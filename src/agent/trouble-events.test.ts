import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { service } from '../forwarding/testing/example-objects.ts';
import { VirtualClock } from '../time/testing/virtual-clock.ts';
import { rejection } from './testing/fake-plane.ts';
import { startedStage } from './testing/many.ts';
import { troubleEvents } from './trouble-events.ts';

const ROW = 'ns/web/TCP/IPv4';

async function scene() {
  const clock = new VirtualClock();
  const told: string[] = [];
  const events = {
    changedRepeatedly: () => told.push('changed repeatedly'),
    notInKernel: ({ namespace, name }: { namespace: string; name: string }, note: string) =>
      told.push(`${namespace}/${name}: ${/\((\w+)\)/.exec(note)?.[1]}`),
  };
  const observers = [troubleEvents({ events, nodeName: 'here', clock })];
  const stage = await startedStage(clock, { observers });
  stage.source.service(service({ clusterIPs: ['10.96.0.1'] }));
  await clock.until('the Service', () => stage.isEqual());
  return { clock, told, stage };
}

describe('troubleEvents', () => {
  it('tells the third repair within ten minutes', async () => {
    const { clock, told, stage } = await scene();
    await using _ = stage;
    for (let count = 0; count < 2; count++) {
      stage.plane.lose(ROW);
      await clock.pass(60_000);
    }
    assert.deepEqual(told, []);
    stage.plane.lose(ROW);
    await clock.pass(60_000);
    assert.deepEqual(told, ['changed repeatedly']);
  });

  it('does not tell repairs that are far apart', async () => {
    const { clock, told, stage } = await scene();
    await using _ = stage;
    for (let count = 0; count < 4; count++) {
      stage.plane.lose(ROW);
      await clock.pass(400_000);
    }
    assert.deepEqual(told, []);
  });

  it('tells a Service that is rejected three times, once until the kernel has it', async () => {
    const { clock, told, stage } = await scene();
    await using _ = stage;
    stage.plane.fault = (call) => {
      if (call === 'apply') throw rejection('EINVAL', 'odd', ROW);
    };
    stage.source.service(service({ clusterIPs: ['10.96.0.1'], affinitySeconds: 7 }));
    await clock.pass(300_000);
    assert.deepEqual(told, ['ns/web: EINVAL']);
    stage.plane.fault = () => undefined;
    await clock.until('the Service', () => stage.isEqual());
  });

  it('tells a Service that is rejected beside thousands of another namespace', () => {
    const told: string[] = [];
    const events = {
      changedRepeatedly: () => undefined,
      notInKernel: ({ namespace }: { namespace: string }) => void told.push(namespace),
    };
    const { onStepFailed } = troubleEvents({ events, nodeName: 'here', clock: new VirtualClock() });
    const failure = { families: [], code: 'EINVAL', message: 'no', next: '', atMs: 0 } as const;
    const fail = (services: readonly string[]): void =>
      onStepFailed?.({ scope: 'row', services, rowCount: 1, ...failure });
    fail(Array.from({ length: 5_000 }, (_, index) => `loud/web${index}`));
    for (let count = 0; count < 3; count++) fail(['quiet/web']);
    assert.deepEqual(told, ['quiet']);
  });
});
