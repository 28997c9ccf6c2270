import { readFile, writeFile } from 'node:fs/promises';
import { abortable } from '../../../lab/host/interruption.ts';
import { plantText } from '../../../lab/host/plant.ts';
import type { Progress } from '../../../lab/host/progress.ts';
import { startLab } from '../../../lab/lab.ts';
import { LOAD } from '../faults/changes.ts';
import { buildForwarders, programsOf } from '../faults/plane/builds.ts';
import { runPlaneFault } from '../faults/plane/plane-fault.ts';
import { PlaneScene } from '../faults/plane/plane-scene.ts';
import { Scene } from '../faults/scene.ts';
import type { Trap, TrapResult } from './trap.ts';

const PROXY = 'fairlead-userspace';
/** Both have the trap, so that one can replace the other. */
const BUILDS = { usual: 'planted', other: 'otherPlanted' } as const;

/** A lab for each: what one leaves behind must not show another. */
export async function runTrap(
  trap: Trap,
  { progress, signal }: { readonly progress: Progress; readonly signal: AbortSignal },
): Promise<TrapResult> {
  await using lab = await startLab({ nodeCount: 1, load: LOAD, progress, signal });
  await using cluster = new Scene(lab);
  await cluster.prepare();
  await plant(trap);
  await using scene = new PlaneScene(cluster, PROXY, { builds: BUILDS });
  await scene.prepare();
  await trap.act?.(scene);
  const { failure } = await abortable(runPlaneFault(scene, trap.caughtBy), signal);
  return { trap, failure };
}

async function plant({ name, planted }: Trap): Promise<void> {
  await buildForwarders(BUILDS);
  for (const build of Object.values(BUILDS)) {
    for (const { in: program, ...text } of planted) {
      const path = programsOf(build)[program];
      await writeFile(path, plantText(await readFile(path, 'utf8'), { name, ...text }));
    }
  }
}
