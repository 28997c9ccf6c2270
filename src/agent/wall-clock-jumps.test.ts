import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { endpoint, service, slice } from '../forwarding/testing/example-objects.ts';
import { VirtualClock } from '../time/testing/virtual-clock.ts';
import { livez } from './conditions.ts';
import { NODE, SETTINGS, Stage } from './testing/agent-stage.ts';
import { type Call, rejection } from './testing/fake-plane.ts';
import { numbered, startedStage } from './testing/many.ts';

const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const RUNS = 2;
const TROUBLE_SECONDS = 240;
const STORY_SECONDS = 480;
const STEP_SECONDS = 5;
const CALLS_PER_CHANGE = 5;
const LOST_AFTER_SECONDS = 60;
/** Enough that the plane is to blame and not a row. */
const SERVICES = 32;

type Trouble = (stage: Stage, call: Call) => void;

const ODD_ROW = 'ns/odd/TCP/IPv4';

/** The faults of the first four minutes. */
const TROUBLES: Readonly<Record<string, Trouble>> = {
  'every write fails': (_, call) => {
    if (call === 'apply') throw rejection('EBUSY', 'busy');
  },
  'one row is rejected': ({ plane }, call) => {
    if (call === 'apply' && !plane.kernel.has(ODD_ROW)) throw rejection('EINVAL', 'odd', ODD_ROW);
  },
  'facts about the node are rejected': (_, call) => {
    if (call === 'configure') throw rejection('EBUSY', 'busy');
  },
  'inspections and writes fail': (_, call) => {
    if (call !== 'configure') throw rejection('EBUSY', 'busy');
  },
  'the watch of the kernel ends': ({ plane }) => {
    plane.endWatch?.();
  },
};

interface Jump {
  /** During the call of the plane with this number, or at this second. */
  readonly at: 'call' | 'second';
  readonly count: number;
  readonly byMs: number;
}

const jumpsArbitrary: fc.Arbitrary<Jump[]> = fc.array(
  fc.record({
    at: fc.constantFrom('call', 'second'),
    count: fc.nat(TROUBLE_SECONDS / STEP_SECONDS).map((steps) => steps * STEP_SECONDS),
    byMs: fc.constantFrom(-DAY_MS, -HOUR_MS, -30 * SECOND_MS, HOUR_MS, DAY_MS),
  }),
  { minLength: 2, maxLength: 6 },
);

/** All calls and reports of the agent in eight minutes, with times; the clock jumps meanwhile. */
async function storyOf(trouble: Trouble, jumps: readonly Jump[]): Promise<string[]> {
  const clock = new VirtualClock();
  const beganMs = clock.monotonicMs();
  const story: string[] = [];
  let callCount = 0;
  const jumpAt = (at: Jump['at'], count: number): void => {
    for (const jump of jumps) if (jump.at === at && jump.count === count) clock.jumpWall(jump.byMs);
  };
  const stage: Stage = new Stage(clock, { random: () => 0.5, readBackMs: 150 * SECOND_MS });
  await using _ = stage.start();
  await clock.settle();
  stage.source.service(service({ name: 'web', clusterIPs: ['10.97.0.1'] }));
  stage.complete();
  await clock.until('a first sync', () => stage.isEqual());
  stage.plane.fault = (call) => {
    const afterMs = clock.monotonicMs() - beganMs;
    story.push(`${afterMs} ms: ${call}`);
    // A change that arrives during a call waits until it is over.
    const isTimeForOne = callCount % CALLS_PER_CHANGE === 0 && callCount < TROUBLE_SECONDS;
    const endpoints = [endpoint(`10.0.0.${callCount % 7}`)];
    if (isTimeForOne) stage.source.slice(slice(endpoints, { service: 'web' }));
    jumpAt('call', callCount++);
    if (afterMs < TROUBLE_SECONDS * SECOND_MS) trouble(stage, call);
  };
  stage.source.service(service({ name: 'odd', clusterIPs: ['10.97.0.2'] }));
  for (let index = 0; index < SERVICES; index++) stage.source.service(numbered('ns', index));
  stage.source.slice(slice([endpoint('10.0.0.1')], { name: 'odd-0', service: 'odd' }));
  stage.source.node({ ...NODE, podCIDRs: ['172.20.0.0/24'] });
  for (let second = 0; second < STORY_SECONDS; second += STEP_SECONDS) {
    jumpAt('second', second);
    if (second === LOST_AFTER_SECONDS) stage.plane.lose('ns/web/TCP/IPv4');
    await clock.pass(STEP_SECONDS * SECOND_MS);
    story.push(`${second} s: ${statement(stage, clock)}`);
  }
  assert.ok(stage.isEqual(), 'the kernel has everything in the end');
  return story;
}

/** Dates as their ages. */
function statement({ agent }: Stage, clock: VirtualClock): string {
  const conditions = agent.conditions();
  const { errorFree, synced, undisturbed, watching, timely } = conditions;
  const { failingRows, drifts, lastInspection, startedAtMs } = agent.snapshot();
  const dates = [
    ...[errorFree, synced, undisturbed, watching, timely.IPv4].map(({ sinceMs }) => sinceMs),
    ...failingRows.flatMap(({ firstFailedAtMs, retryAtMs }) => [firstFailedAtMs, retryAtMs]),
    ...drifts.map(({ atMs }) => atMs),
    ...[timely.IPv4.lastSyncedAtMs, timely.IPv4.oldestPendingAtMs, lastInspection?.atMs],
    startedAtMs,
  ];
  const ages = dates.map((date) => (date === undefined ? 'never' : clock.wallMs() - date));
  return `${livez(conditions).failing} ${timely.IPv4.why}; ages ${ages.join(', ')}`;
}

describe('a wall clock that jumps', () => {
  for (const [what, trouble] of Object.entries(TROUBLES)) {
    it(`changes neither what the agent does, nor when, while ${what}`, async () => {
      const undisturbed = await storyOf(trouble, []);
      const property = fc.asyncProperty(jumpsArbitrary, async (jumps) => {
        const story = await storyOf(trouble, jumps);
        const index = story.findIndex((line, at) => line !== undisturbed[at]);
        assert.equal(story[index], undisturbed[index]);
        assert.equal(story.length, undisturbed.length);
      });
      await fc.assert(property, { numRuns: RUNS, endOnFailure: true });
    });
  }

  it('does not hide from /livez that changes wait too long', async () => {
    const clock = new VirtualClock();
    await using stage = await startedStage(clock);
    stage.plane.fault = () => {
      throw rejection('EBUSY', 'busy');
    };
    for (let index = 0; index < SERVICES; index++) stage.source.service(numbered('ns', index));
    await clock.pass(SECOND_MS);
    clock.jumpWall(-HOUR_MS);
    assert.deepEqual(livez(stage.agent.conditions()).failing, []);
    await clock.pass(2 * SETTINGS.syncPeriodMs);
    assert.deepEqual(livez(stage.agent.conditions()).failing, ['timely.IPv4']);
  });
});
