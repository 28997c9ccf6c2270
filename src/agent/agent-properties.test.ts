import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Kind } from '../cluster/object-kinds.ts';
import type { ServiceObject } from '../cluster/objects.ts';
import { elsewhere, endpoint, service, slice } from '../forwarding/testing/example-objects.ts';
import { VirtualClock } from '../time/testing/virtual-clock.ts';
import { KINDS, NODE, SETTINGS, Stage } from './testing/agent-stage.ts';
import { rejection } from './testing/fake-plane.ts';

const RUNS = 150;

/** Few names and few addresses, so that Services meet, change hands and come back. */
const name = fc.integer({ min: 0, max: 5 }).map((n) => `s${n}`);
const ip = fc.integer({ min: 1, max: 8 });

const serviceArbitrary: fc.Arbitrary<ServiceObject> = fc
  .record({
    name,
    cluster: fc.uniqueArray(ip, { minLength: 1, maxLength: 1 }),
    isDual: fc.boolean(),
    external: fc.uniqueArray(ip, { maxLength: 2 }),
    nodePort: fc.constantFrom(0, 30001, 30002),
    affinitySeconds: fc.constantFrom(0, 60),
    createdAtSeconds: fc.integer({ min: 1, max: 3 }),
    isLocal: fc.boolean(),
    ports: fc.uniqueArray(fc.constantFrom(80, 443, 53), { minLength: 1, maxLength: 2 }),
  })
  .map((drawn) =>
    service({
      name: drawn.name,
      type: 'LoadBalancer',
      clusterIPs: drawn.cluster.flatMap((n) =>
        drawn.isDual ? [`10.96.0.${n}`, `fd00:96::${n}`] : [`10.96.0.${n}`],
      ),
      externalIPs: drawn.external.map((n) => `192.0.2.${n}`),
      createdAtSeconds: drawn.createdAtSeconds,
      affinitySeconds: drawn.affinitySeconds,
      externalTrafficPolicy: drawn.isLocal ? 'Local' : 'Cluster',
      healthCheckNodePort: drawn.isLocal ? 32000 : 0,
      ports: drawn.ports.map((port) => ({
        name: `p${port}`,
        protocol: 'TCP',
        port,
        nodePort: drawn.nodePort === 0 ? 0 : drawn.nodePort + port,
      })),
    }),
  );

type Action = (stage: Stage, clock: VirtualClock) => void | Promise<void>;

function act(label: string, action: Action): { label: string; action: Action } {
  return { label, action };
}

const sliceAction = fc
  .record({
    owner: name,
    number: fc.integer({ min: 0, max: 1 }),
    ips: fc.uniqueArray(ip),
    isHere: fc.boolean(),
  })
  .map(({ owner, number, ips, isHere }) => {
    const make = isHere ? endpoint : elsewhere;
    const endpoints = ips.map((n) => make(`10.0.0.${n}`));
    const ports = [80, 443, 53].map((port) => ({ name: `p${port}`, protocol: 'TCP', port }));
    const object = slice(endpoints, { name: `${owner}-${number}`, service: owner, ports });
    return act(`slice ${owner}-${number} ${ips}`, ({ source }) => source.slice(object));
  });

const clusterActions = fc.oneof(
  {
    weight: 5,
    arbitrary: serviceArbitrary.map((object) =>
      act(`put ${JSON.stringify(object)}`, ({ source }) => source.service(object)),
    ),
  },
  {
    weight: 2,
    arbitrary: name.map((n) =>
      act(`delete ${n}`, ({ source }) => source.gone('service', `ns/${n}`)),
    ),
  },
  { weight: 4, arbitrary: sliceAction },
  {
    weight: 1,
    arbitrary: name.map((n) =>
      act(`delete slice ${n}-0`, ({ source }) => source.gone('slice', `ns/${n}-0`)),
    ),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('a', 'b')
      .map((zone) => act(`zone ${zone}`, ({ source }) => source.node({ ...NODE, zone }))),
  },
  {
    weight: 1,
    arbitrary: fc
      .boolean()
      .map((all) =>
        act(`masquerade all ${all}`, ({ agent }) =>
          agent.reconfigure({ ...SETTINGS, masquerade: { all, markBit: 14 } }),
        ),
      ),
  },
  {
    weight: 3,
    arbitrary: fc
      .integer({ min: 0, max: 400 })
      .map((ms) => act(`pass ${ms} ms`, (_, clock) => clock.pass(ms))),
  },
  {
    weight: 2,
    arbitrary: fc.constant(act('a turn', () => new Promise((resolve) => setImmediate(resolve)))),
  },
);

const troubleActions = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .nat(20)
      .map((n) => act(`spoil ${n}`, ({ plane }) => plane.spoil([...plane.kernel.keys()][n] ?? ''))),
  },
  {
    weight: 3,
    arbitrary: fc
      .nat(20)
      .map((n) => act(`lose ${n}`, ({ plane }) => plane.lose([...plane.kernel.keys()][n] ?? ''))),
  },
  {
    weight: 1,
    arbitrary: fc
      .record({ owner: name, isNamed: fc.boolean() })
      .map(({ owner, isNamed }) =>
        act(`reject ${owner}, named ${isNamed}`, (stage) => rejectRowsOf(stage, owner, isNamed)),
      ),
  },
  {
    weight: 1,
    arbitrary: fc
      .integer({ min: 2, max: 4 })
      .map((every) => act(`reject every ${every}th call`, (stage) => rejectEvery(stage, every))),
  },
  {
    weight: 1,
    arbitrary: fc
      .integer({ min: 1, max: 3 })
      .map((every) => act(`break off every ${every}th write`, (stage) => breakOff(stage, every))),
  },
  { weight: 1, arbitrary: fc.constant(act('reject all', (stage) => rejectEvery(stage, 1))) },
  { weight: 2, arbitrary: fc.constant(act('reject nothing', heal)) },
  {
    weight: 1,
    arbitrary: fc.constant(
      act('watch ends', ({ plane }) => plane.endWatch?.(rejection('OVERRUN', 'lost events'))),
    ),
  },
);

function rejectRowsOf({ plane }: Stage, owner: string, isNamed: boolean): void {
  plane.fault = (_, changes) => {
    const bad = changes.find(({ key }) => key.startsWith(`ns/${owner}:`));
    if (bad !== undefined) throw rejection('BAD', 'rejected', isNamed ? bad.key : undefined);
  };
}

function rejectEvery({ plane }: Stage, every: number): void {
  let count = 0;
  plane.fault = () => {
    if (++count % every === 0) throw rejection('FLAKY', 'rejected');
  };
}

function breakOff({ plane }: Stage, every: number): void {
  let count = 0;
  plane.faultAfterWrite = () => {
    if (++count % every === 0) throw new Error('broken off');
  };
}

function heal({ plane }: Stage): void {
  plane.fault = () => undefined;
  plane.faultAfterWrite = () => undefined;
}

async function comesRight(stage: Stage, clock: VirtualClock): Promise<void> {
  heal(stage);
  const healedAtMs = clock.monotonicMs();
  await clock.until('the kernel being what is desired', () => {
    const { rows, failingRowCount, conditions } = stage.agent.snapshot();
    const isQuiet = rows.pending === 0 && failingRowCount === 0 && conditions.synced.isTrue;
    return isQuiet && stage.isEqual();
  });
  assert.deepEqual(stage.plane.violations, []);
  // Before the periodic inspection, which would repair what the agent has forgotten.
  assert.ok(clock.monotonicMs() - healedAtMs <= SETTINGS.syncPeriodMs + 1000);
  const { rows } = stage.agent.snapshot();
  assert.equal(rows.applied, stage.plane.kernel.size);
  assert.equal(rows.desired, stage.plane.kernel.size);
}

for (const objectsPerStep of [undefined, 6]) {
  const how = objectsPerStep === undefined ? '' : ', also when it takes few objects at a time';
  test(`brings the kernel to the desired state after any events${how}`, async () => {
    await comesRightWhateverHappens(objectsPerStep);
  });
}

async function comesRightWhateverHappens(objectsPerStep: number | undefined): Promise<void> {
  const actions = fc.array(fc.oneof({ weight: 3, arbitrary: clusterActions }, troubleActions), {
    maxLength: 40,
    size: 'max',
  });
  await fc.assert(
    fc.asyncProperty(actions, async (script) => {
      const clock = new VirtualClock();
      await using stage = new Stage(clock);
      if (objectsPerStep !== undefined) stage.plane.writeInParts(objectsPerStep);
      stage.start();
      await clock.settle();
      stage.complete();
      for (const { action } of script) await action(stage, clock);
      await comesRight(stage, clock);
    }),
    { numRuns: RUNS },
  );
}

test('writes nothing before the first complete lists, whatever the kernel already has', async () => {
  const script = fc.record({
    before: fc.array(clusterActions, { maxLength: 15 }),
    order: fc.shuffledSubarray([...KINDS], { minLength: KINDS.length }),
    between: fc.array(clusterActions, { maxLength: 6 }),
  });
  await fc.assert(
    fc.asyncProperty(script, async ({ before, order, between }) => {
      const clock = new VirtualClock();
      await using stage = new Stage(clock);
      await using other = new Stage(clock);
      other.start();
      await clock.settle();
      other.complete();
      for (const { action } of before) await action(other, clock);
      await comesRight(other, clock);
      for (const [key, row] of other.plane.kernel) stage.plane.kernel.set(key, row);
      const found = new Map(stage.plane.kernel);
      stage.start();
      await clock.settle();
      for (const [index, kind] of order.entries()) {
        for (const { action } of between.slice(index)) await action(stage, clock);
        await clock.settle();
        assert.deepEqual(stage.plane.calls, []);
        assert.deepEqual(stage.plane.kernel, found);
        stage.source.synced(kind satisfies Kind);
      }
      await comesRight(stage, clock);
    }),
    { numRuns: RUNS },
  );
});

test('never delays the rows of others by those of a rejected Service', async () => {
  const script = fc.record({
    actions: fc.array(clusterActions, { minLength: 1, maxLength: 25 }),
    isNamed: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(script, async ({ actions, isNamed }) => {
      const clock = new VirtualClock();
      await using stage = new Stage(clock);
      stage.start();
      await clock.settle();
      stage.complete();
      rejectRowsOf(stage, 'bad', isNamed);
      const ports = Array.from({ length: 12 }, (_, i) => ({
        name: `p${i}`,
        protocol: 'TCP',
        port: 1000 + i,
        nodePort: 0,
      }));
      stage.source.service(service({ name: 'bad', clusterIPs: ['10.96.9.9'], ports }));
      for (const { action } of actions) await action(stage, clock);
      await clock.pass(2000);
      const wanted = [...stage.agent.desired().rows].filter(({ id }) => id.service !== 'bad');
      assert.equal(stage.plane.kernel.size, wanted.length);
      await comesRight(stage, clock);
    }),
    { numRuns: RUNS / 3 },
  );
});
