import { until } from '../../../../lab/host/until.ts';
import { CHANGES, lasting } from '../fault.ts';
import { FlowWitness } from './flow-witness.ts';
import { livezBecomes } from './livez.ts';
import { must, type PlaneFault, type PlaneOutcome } from './plane-fault.ts';
import type { PlaneScene } from './plane-scene.ts';
import { TableOwner } from './table-owner.ts';
import { WallClock } from './wall-clock.ts';

const HOUR_SECONDS = 3_600;
const DAY_SECONDS = 24 * HOUR_SECONDS;
const RIGHT_DEADLINE_MS = 60_000;
/** A jump of the clock must not delay a change. */
const MOST_DELAY_MS = 5_000;
const AWAY_SECONDS = 30;
const LASTING_SECONDS = 3;
/** Twice the sync period of 30 s, and how far off it may be seen. */
const LATE_AFTER_MS = 60_000;
const EARLY_MS = 2_000;
const LATE_MS = 20_000;
const ALL_THE_TIME = { hands: 2, pauseMs: 10 };

const JUMPS = [
  { words: 'back by an hour', bySeconds: -HOUR_SECONDS },
  { words: 'forward by an hour', bySeconds: HOUR_SECONDS },
  { words: 'forward by a day', bySeconds: DAY_SECONDS },
] as const;

type Happen = (scene: PlaneScene, jump: () => Promise<void>) => Promise<PlaneOutcome>;

/** Jumps of the wall clock of `fairlead run`, in which all else is real. */
export function clockFaults(): readonly PlaneFault[] {
  const done = 'wall clock set (a fake, for this process alone)';
  return JUMPS.flatMap(({ words, bySeconds }) => [
    clockFault(`clock set ${words}`, {
      done: `${done}; then changes through the API`,
      bySeconds,
      happen: jumpWhileWell,
    }),
    clockFault(`clock set ${words}, kernel rejects writes`, {
      done: `\`table ip fairlead\` owned by another process until /livez fails; ${done}; changes; the owner ends`,
      bySeconds,
      happen: jumpWhileRejected,
    }),
    clockFault(`clock set ${words}, API server unreachable`, {
      done: `kill -9; ${done}; changes in the store; started again after ${AWAY_SECONDS} s`,
      bySeconds,
      happen: jumpWhileAway,
    }),
  ]);
}

function clockFault(
  name: string,
  of: { readonly done: string; readonly bySeconds: number; readonly happen: Happen },
): PlaneFault {
  return {
    name,
    done: of.done,
    happen: async (scene) => {
      const clock = new WallClock(scene.runFolder);
      await clock.prepare();
      await scene.becomeWith(clock.env);
      const jump = async (): Promise<void> => {
        await clock.jump(of.bySeconds);
        await follows(scene, clock);
      };
      return await of.happen(scene, jump);
    },
  };
}

/** Checks that the process sees the jump, and that its age does not jump with it. */
async function follows(scene: PlaneScene, clock: WallClock): Promise<void> {
  const status = await scene.status();
  must(status !== undefined, 'the process does not answer');
  if (status === undefined) return;
  const aheadMs = status.atMs - clock.nowMs();
  must(Math.abs(aheadMs) < 60_000, `its clock is off by ${aheadMs} ms after the jump`);
  const upMs = status.atMs - status.startedAtMs;
  must(upMs > 0 && upMs < 600_000, `it says that it has been up for ${upMs} ms`);
}

async function jumpWhileWell(scene: PlaneScene, jump: () => Promise<void>): Promise<PlaneOutcome> {
  const witness = await FlowWitness.make(scene);
  const hammer = await scene.hammer();
  const generation = await scene.inside.ask('generation', {});
  hammer.start(ALL_THE_TIME);
  try {
    await jump();
    await lasting(LASTING_SECONDS);
    must((await scene.livez()) === 200, '/livez fails though nothing is wrong');
    const now = await scene.inside.ask('generation', {});
    must(now === generation, `the generation of the rules went from ${generation} to ${now}`);
    await scene.cluster.changes.throughApi(scene.cluster.api, 1);
    await witness.loseEndpoint();
    const tookMs = await scene.inside.becomesRight('diff', RIGHT_DEADLINE_MS);
    must(tookMs < MOST_DELAY_MS, `right only ${tookMs.toFixed(0)} ms after the last change`);
    await witness.onlyStaleGone(RIGHT_DEADLINE_MS);
    await hammer.stop();
    must(hammer.failed().length === 0, hammer.verdict());
    return {
      rightAfter: `${tookMs.toFixed(0)} ms after the last change`,
      lost: `nothing: same generation after the jump; ${hammer.verdict()}; stale flows gone; /livez 200`,
    };
  } finally {
    await hammer.stop();
  }
}

async function jumpWhileRejected(
  scene: PlaneScene,
  jump: () => Promise<void>,
): Promise<PlaneOutcome> {
  const witness = await FlowWitness.make(scene);
  await using owner = new TableOwner(scene.namespacePath);
  const beganMs = performance.now();
  await owner.take();
  const isRejected = async (): Promise<string | undefined> => {
    const { isTrue, why } = (await scene.status())?.conditions.errorFree ?? {};
    return isTrue === false ? why : undefined;
  };
  const what = 'the status to say that writes are rejected';
  const why = await until(isRejected, { what, deadlineMs: RIGHT_DEADLINE_MS });
  await jump();
  await scene.cluster.changes.throughApi(scene.cluster.api, 1);
  await witness.loseEndpoint();
  await livezBecomes(scene, 503, LATE_AFTER_MS + LATE_MS);
  const failedAfterMs = performance.now() - beganMs;
  must(
    failedAfterMs > LATE_AFTER_MS - EARLY_MS,
    `/livez failed after ${failedAfterMs.toFixed(0)} ms, when nothing had waited for too long`,
  );
  await owner.leave();
  const tookMs = await scene.inside.becomesRight('diff', RIGHT_DEADLINE_MS);
  await livezBecomes(scene, 200, MOST_DELAY_MS);
  await witness.onlyStaleGone(RIGHT_DEADLINE_MS);
  return {
    rightAfter: `${(tookMs / 1_000).toFixed(1)} s after writes were accepted`,
    lost: `what the owner of the table took, until then; /livez 503 after ${(failedAfterMs / 1_000).toFixed(0)} s and 200 again; stale flows gone; the status said "${why}"`,
  };
}

async function jumpWhileAway(scene: PlaneScene, jump: () => Promise<void>): Promise<PlaneOutcome> {
  const { cluster } = scene;
  const hammer = await scene.hammer();
  await cluster.apiServer.kill();
  const awayMs = performance.now();
  hammer.start(ALL_THE_TIME);
  let told = '';
  try {
    await jump();
    await cluster.changes.inStore(CHANGES);
    await lasting(AWAY_SECONDS);
    told = (await scene.status())?.conditions.apiFresh.why ?? '';
    must((await scene.livez()) === 200, '/livez fails for an API server that is away');
  } finally {
    await hammer.stop();
    cluster.apiServer.startAgain();
    await cluster.apiServerReady();
  }
  const heardSeconds = Number(/nothing received for ([\d.-]+) s/.exec(told)?.[1]);
  const mostSeconds = (performance.now() - awayMs) / 1_000 + 60;
  must(heardSeconds >= AWAY_SECONDS && heardSeconds < mostSeconds, `the status said "${told}"`);
  const tookMs = await scene.inside.becomesRight('diff', RIGHT_DEADLINE_MS);
  must(hammer.failed().length === 0, hammer.verdict());
  return {
    rightAfter: `${(tookMs / 1_000).toFixed(1)} s after it was ready again`,
    lost: `nothing: ${hammer.verdict()}; /livez 200; the status said "${told}"`,
  };
}
