import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../time/clock.ts';
import { InstantClock } from '../time/testing/instant-clock.ts';
import { until } from '../time/testing/until.ts';
import { releasePlane } from './release.ts';
import { Stage } from './testing/agent-stage.ts';
import { FakePlane } from './testing/fake-plane.ts';

/** A plane that notes when it is released. */
class ReleasedPlane extends FakePlane {
  releaseCount = 0;
  callsBefore = 0;

  async release(): Promise<void> {
    this.releaseCount++;
    this.callsBefore = this.calls.length;
  }
}

test('releases the plane once, after its last call, when the agent ends', async () => {
  const plane = new ReleasedPlane();
  {
    await using stage = new Stage(systemClock, { plane }).start();
    stage.complete();
    await until('an inspection', () => plane.calls.length > 0);
    assert.equal(plane.releaseCount, 0);
  }
  assert.equal(plane.releaseCount, 1);
  assert.equal(plane.callsBefore, plane.calls.length);
});

test('does not release a plane that was never inspected', async () => {
  const plane = new ReleasedPlane();
  {
    await using _ = new Stage(systemClock, { plane }).start();
  }
  assert.equal(plane.releaseCount, 0);
});

test('ends although a release fails or hangs, and logs it', async () => {
  const warnings: unknown[][] = [];
  const log = { warn: (...warning: unknown[]) => void warnings.push(warning) } as never;
  const failing = Object.assign(new FakePlane(), {
    release: () => Promise.reject(new Error('out of luck')),
  });
  await releasePlane({ plane: failing, clock: systemClock, log });
  assert.match(String(warnings.at(-1)?.[0]), /out of luck/);
  const hanging = Object.assign(new FakePlane(), {
    release: () => Promise.withResolvers<void>().promise,
  });
  await releasePlane({ plane: hanging, clock: new InstantClock(), log });
  assert.match(String(warnings.at(-1)?.[1]), /hangs/);
});
