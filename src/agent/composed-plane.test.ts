import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ComposedPlane } from '../dataplanes/composition.ts';
import { equalForwarding } from '../forwarding/equal.ts';
import { servicePortKey } from '../forwarding/model.ts';
import { endpoint, service, slice } from '../forwarding/testing/example-objects.ts';
import { VirtualClock } from '../time/testing/virtual-clock.ts';
import { SETTINGS, Stage } from './testing/agent-stage.ts';
import { FakePlane, rejection } from './testing/fake-plane.ts';

interface Scene {
  readonly stage: Stage;
  readonly clock: VirtualClock;
  readonly front: FakePlane;
  readonly behind: FakePlane;
}

type Action = (scene: Scene) => void | Promise<void>;

const RUNS = 150;
const HALVES = ['front', 'behind'] as const;

const half = fc.constantFrom(...HALVES);
const name = fc.integer({ min: 0, max: 4 }).map((n) => `s${n}`);

const actions: fc.Arbitrary<Action> = fc.oneof(
  fc.tuple(name, fc.integer({ min: 1, max: 4 })).map(([name, n]): Action => {
    return ({ stage }) =>
      stage.source.service(service({ name: name, clusterIPs: [`10.96.0.${n}`] }));
  }),
  fc.tuple(name, fc.uniqueArray(fc.integer({ min: 1, max: 4 }))).map(([name, hosts]): Action => {
    const endpoints = hosts.map((n) => endpoint(`10.0.0.${n}`));
    return ({ stage }) =>
      stage.source.slice(slice(endpoints, { name: `${name}-0`, service: name }));
  }),
  name.map(
    (name): Action =>
      ({ stage }) =>
        stage.source.gone('service', `ns/${name}`),
  ),
  fc.tuple(half, fc.nat(4), fc.constantFrom('lose', 'spoil')).map(([half, n, how]): Action => {
    return (scene) => {
      const plane = scene[half];
      plane[how]([...plane.kernel.keys()][n] ?? '');
    };
  }),
  fc.tuple(half, fc.integer({ min: 1, max: 4 })).map(([half, every]): Action => {
    return (scene) => {
      let count = 0;
      scene[half].fault = () => {
        if (++count % every === 0) throw rejection('FLAKY', 'rejected');
      };
    };
  }),
  fc.tuple(half, fc.integer({ min: 1, max: 4 })).map(([half, every]): Action => {
    return (scene) => {
      let count = 0;
      scene[half].faultAfterWrite = () => {
        if (++count % every === 0) throw new Error('broken off');
      };
    };
  }),
  fc.constant<Action>(heal),
  fc.integer({ min: 0, max: 400 }).map(
    (ms): Action =>
      ({ clock }) =>
        clock.pass(ms),
  ),
);

function heal({ front, behind }: Scene): void {
  for (const plane of [front, behind]) {
    plane.fault = () => undefined;
    plane.faultAfterWrite = () => undefined;
  }
}

function isRight(plane: FakePlane, { stage }: Scene): boolean {
  const { rows, facts } = stage.agent.desired();
  const isThere = rows.every((row) =>
    equalForwarding(plane.kernel.get(servicePortKey(row.id)), row),
  );
  return isThere && plane.kernel.size === rows.length && plane.facts === facts;
}

for (const objectsPerStep of [undefined, 4]) {
  const how = objectsPerStep === undefined ? '' : ', also when rows are written in parts';
  test(`brings both planes to the desired state after any failures of one of them${how}`, async () => {
    await comesRightWhateverHappens(objectsPerStep);
  });
}

async function comesRightWhateverHappens(objectsPerStep: number | undefined): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.array(actions, { maxLength: 40, size: 'max' }), async (script) => {
      const clock = new VirtualClock();
      const [front, behind] = [new FakePlane(), new FakePlane()];
      if (objectsPerStep !== undefined) behind.writeInParts(objectsPerStep);
      const sleep = (ms: number, signal: AbortSignal) => clock.sleep(ms, signal);
      const plane = new ComposedPlane({ mode: 'both', front, behind, sleep });
      await using stage = new Stage(clock, { plane });
      const scene = { stage, clock, front, behind };
      stage.start();
      await clock.settle();
      stage.complete();
      for (const action of script) await action(scene);
      heal(scene);
      const healedAtMs = clock.monotonicMs();
      await clock.until('both planes being what is desired', () => {
        const { rows, conditions } = stage.agent.snapshot();
        const isQuiet = rows.pending === 0 && conditions.synced.isTrue;
        return isQuiet && isRight(front, scene) && isRight(behind, scene);
      });
      for (const half of HALVES) assert.deepEqual(scene[half].violations, []);
      // Sooner than the periodic inspection, which would repair what was forgotten.
      assert.ok(clock.monotonicMs() - healedAtMs <= SETTINGS.syncPeriodMs + 1000);
    }),
    { numRuns: RUNS },
  );
}
