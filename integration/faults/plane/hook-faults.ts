import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openPinnedLink } from '../../../src/linux/bpf/link.ts';
import { loadObject } from '../../../src/linux/bpf/load.ts';
import { openPinnedMap } from '../../../src/linux/bpf/map-create.ts';
import { parseObject } from '../../../src/linux/bpf/parse-object.ts';
import { inMs, must, type PlaneFault, type PlaneOutcome } from './plane-fault.ts';
import type { PlaneScene } from './plane-scene.ts';

const OBJECT = fileURLToPath(new URL('../../../dist/bpf/sock.bpf.o', import.meta.url));
const HOOK = 'connect4';
const MOST_MS_FOR_HOOKS = 1_000;
/** Nobody is told of a write to a map: it is found by looking. */
const MOST_MS_FOR_MAPS = 10_000;
const DEADLINE_MS = 20_000;
const REPLACEMENTS = 20;
const SWITCHES = 3;
const UNDER_LOAD = { hands: 4, pauseMs: 0 };

/** What somebody else does to socket hooks, and what we do to them ourselves. */
export const HOOK_FAULTS: readonly PlaneFault[] = [
  {
    name: 'hook taken off',
    done: 'a link detached by somebody who has found the pin',
    happen: (scene) => beTouched(scene, { touch: takeOff, mostMs: MOST_MS_FOR_HOOKS }),
  },
  {
    name: 'program of a hook replaced',
    done: 'another program put under the link',
    happen: (scene) => beTouched(scene, { touch: replaceProgram, mostMs: MOST_MS_FOR_HOOKS }),
  },
  {
    name: 'frontend deleted from the map',
    done: 'one entry, by somebody who has found the pin',
    happen: (scene) => beTouched(scene, { touch: deleteFrontend, mostMs: MOST_MS_FOR_MAPS }),
  },
  {
    name: 'programs replaced under connections',
    done: `a stranger's program under ${HOOK} and ours put back, ${REPLACEMENTS} times`,
    happen: replaceOften,
  },
  {
    name: 'switch of modes',
    done: `socket-ebpf to nftables and back, ${SWITCHES} times, under connections`,
    happen: switchModes,
  },
];

interface Touch {
  readonly touch: (scene: PlaneScene) => void;
  readonly mostMs: number;
}

async function beTouched(scene: PlaneScene, of: Touch): Promise<PlaneOutcome> {
  await scene.serving();
  const hammer = await scene.hammer();
  await scene.inside.becomesRight('diff', DEADLINE_MS);
  hammer.start(UNDER_LOAD);
  try {
    const from = performance.now();
    of.touch(scene);
    const seen = await scene.inside.ask('diffAgain', {});
    must(seen.length > 0, 'nothing was amiss after the touch');
    await scene.inside.becomesRight('diffAgain', DEADLINE_MS);
    const tookMs = performance.now() - from;
    must(tookMs < of.mostMs, `repaired only after ${inMs(tookMs)}`);
    await hammer.stop();
    must(hammer.failed().length === 0, hammer.verdict());
    return { rightAfter: inMs(tookMs), lost: `nothing: seen as "${seen[0]}"; ${hammer.verdict()}` };
  } finally {
    await hammer.stop();
  }
}

function takeOff(scene: PlaneScene): void {
  const link = openPinnedLink(join(scene.pinFolder, 'links', HOOK));
  link.detach();
  link.close();
}

/** Ours on maps that are empty: it lets everything pass. */
function replaceProgram(scene: PlaneScene): void {
  const programs = [{ name: HOOK }];
  const loaded = loadObject(parseObject(readFileSync(OBJECT)), { programs });
  const link = openPinnedLink(join(scene.pinFolder, 'links', HOOK));
  for (const program of loaded.programs.values()) link.update(program);
  link.close();
  loaded.close();
}

function deleteFrontend(scene: PlaneScene): void {
  const map = openPinnedMap(join(scene.pinFolder, 'maps/frontends'));
  const key = map.nextKey(undefined);
  must(key !== undefined, 'there is no frontend');
  if (key) map.delete(key);
  map.close();
}

async function replaceOften(scene: PlaneScene): Promise<PlaneOutcome> {
  await scene.serving();
  const hammer = await scene.hammer();
  await scene.inside.becomesRight('diff', DEADLINE_MS);
  hammer.start(UNDER_LOAD);
  try {
    for (let round = 0; round < REPLACEMENTS; round++) {
      replaceProgram(scene);
      await scene.inside.becomesRight('diffAgain', DEADLINE_MS);
    }
  } finally {
    await hammer.stop();
  }
  must(hammer.failed().length === 0, hammer.verdict());
  return { rightAfter: 'each time', lost: `nothing: ${hammer.verdict()}` };
}

async function switchModes(scene: PlaneScene): Promise<PlaneOutcome> {
  await scene.serving();
  const hammer = await scene.hammer();
  hammer.start(UNDER_LOAD);
  try {
    for (let round = 0; round < SWITCHES; round++) {
      await scene.become('fairlead-nftables');
      await scene.become('fairlead-socket-ebpf');
    }
  } finally {
    await hammer.stop();
  }
  must(hammer.failed().length === 0, hammer.verdict());
  await scene.inside.becomesRight('diff', DEADLINE_MS);
  return { rightAfter: 'never wrong', lost: `nothing: ${hammer.verdict()}` };
}
