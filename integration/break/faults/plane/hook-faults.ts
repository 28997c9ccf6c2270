import { quantile } from '../../../../lab/host/spread.ts';
import type { PinnedHooks } from './pinned-hooks.ts';
import { inMs, must, type PlaneFault, type PlaneOutcome } from './plane-fault.ts';
import type { PlaneScene } from './plane-scene.ts';
import { type SeenTouch, type TouchedNode, touchAndSee } from './seen-touch.ts';

const MOST_MS = 1_000;
const DEADLINE_MS = 20_000;
const TOUCHES = 5;
const REPLACEMENTS = 20;
const BUILD_CHANGES = 4;
const HELD = 5_000;
const UNDER_LOAD = { hands: 4, pauseMs: 0 };

/** External changes of hooks and maps, and those of a new version. */
export const HOOK_FAULTS: readonly PlaneFault[] = [
  touch('hook detached', {
    done: 'a link detached through its pin',
    touch: (hooks) => hooks.takeOff(),
  }),
  touch('program of a hook replaced', {
    done: 'another program attached to a link',
    touch: (hooks) => hooks.replaceProgram(),
  }),
  touch('pin of a link removed', {
    done: 'the pin of a link removed',
    touch: (hooks) => hooks.removeLinkPin(),
  }),
  touch('pin of a map removed', {
    done: 'the pin of a map removed',
    touch: (hooks) => hooks.removeMapPin(),
  }),
  touch('frontend deleted from the map', {
    done: 'one entry deleted through the pin of the map',
    touch: (hooks) => hooks.deleteFrontend(),
  }),
  touch('endpoint altered in the map', {
    done: 'another port written into a slot that is in use',
    touch: (hooks, { webAddress }) => hooks.alterSlot({ butOf: webAddress }),
  }),
  touch('settings altered', {
    done: 'another network namespace written in place of that of the node',
    touch: (hooks) => hooks.alterSettings(),
  }),
  {
    name: 'programs replaced under connections',
    done: `another program attached to a link, and ours restored, ${REPLACEMENTS} times`,
    happen: replaceOften,
  },
  {
    name: 'another build of the programs',
    done: `Fairlead stopped and started with differently compiled programs, ${BUILD_CHANGES} times there and back, under connections; ${HELD} more are open all the time`,
    happen: changeBuilds,
  },
];

interface Touch {
  readonly done: string;
  readonly touch: (hooks: PinnedHooks, of: { webAddress: string }) => void;
}

function touch(name: string, of: Touch): PlaneFault {
  return { name, done: `${of.done}, ${TOUCHES} times`, happen: (scene) => beTouched(scene, of) };
}

async function beTouched(scene: PlaneScene, { touch }: Touch): Promise<PlaneOutcome> {
  await scene.serving();
  const hammer = await scene.hammer();
  await scene.inside.becomesRight('diff', DEADLINE_MS);
  const touched: SeenTouch[] = [];
  hammer.start(UNDER_LOAD);
  try {
    for (let round = 0; round < TOUCHES; round++) {
      const once = (): void => touch(scene.hooks, { webAddress: hammer.address });
      touched.push(await touchAndSee(touchedNode(scene), once));
    }
  } finally {
    await hammer.stop();
  }
  const all = touched.map(({ tookMs }) => tookMs.toFixed(0)).join(', ');
  const latest = Math.max(...touched.map(({ tookMs }) => tookMs));
  must(latest < MOST_MS, `repaired only after ${all} ms`);
  must(hammer.failed().length === 0, hammer.verdict());
  const seen = [
    ...new Set(
      touched.map((each) => `"${each.seen.replace(scene.hooks.folder, 'the pin folder')}"`),
    ),
  ].join(', ');
  return { rightAfter: `${all} ms`, lost: `nothing: seen as ${seen}; ${hammer.verdict()}` };
}

function touchedNode(scene: PlaneScene): TouchedNode {
  return {
    differences: () => scene.inside.ask('diffAgain', {}),
    becomesRight: (deadlineMs) => scene.inside.becomesRight('diffAgain', deadlineMs),
    driftCount: async () => (await scene.synced()).driftCount,
  };
}

async function replaceOften(scene: PlaneScene): Promise<PlaneOutcome> {
  await scene.serving();
  const hammer = await scene.hammer();
  await scene.inside.becomesRight('diff', DEADLINE_MS);
  hammer.start(UNDER_LOAD);
  try {
    for (let round = 0; round < REPLACEMENTS; round++) {
      scene.hooks.replaceProgram();
      await scene.inside.becomesRight('diffAgain', DEADLINE_MS);
    }
  } finally {
    await hammer.stop();
  }
  must(hammer.failed().length === 0, hammer.verdict());
  return { rightAfter: 'each time', lost: `nothing: ${hammer.verdict()}` };
}

/** A link stays what it is and gets another program, or it was detached for a moment. */
async function changeBuilds(scene: PlaneScene): Promise<PlaneOutcome> {
  await scene.serving();
  const hammer = await scene.hammer();
  using held = scene.holdAt(hammer.address);
  await held.open(HELD);
  const tookMs: number[] = [];
  hammer.start(UNDER_LOAD);
  try {
    for (let round = 0; round < BUILD_CHANGES * 2; round++) {
      const before = scene.hooks.links();
      const from = performance.now();
      await scene.become(scene.proxyName, round % 2 === 0 ? 'other' : 'usual');
      tookMs.push(performance.now() - from);
      const after = scene.hooks.links();
      const isSameLink = after.every(({ id }, index) => id === before[index]?.id);
      must(after.length > 0 && isSameLink, 'a link is not the one that it was');
      const isNew = after.every(({ programId }, index) => programId !== before[index]?.programId);
      must(isNew, 'a hook still runs the program of the build before');
    }
  } finally {
    await hammer.stop();
  }
  must(hammer.failed().length === 0, hammer.verdict());
  const lost = await held.lost();
  must(lost.length === 0, `${lost.length} of ${HELD} held connections are no more: ${lost[0]}`);
  await scene.inside.becomesRight('diff', DEADLINE_MS);
  return {
    rightAfter: `never wrong; a start took ${inMs(quantile(tookMs, 0.5))} (p50 of ${tookMs.length})`,
    lost: `nothing: ${hammer.verdict()}; all of ${HELD} held connections answered afterwards; links as they were, each with another program`,
  };
}
