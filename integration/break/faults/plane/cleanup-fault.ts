import { removePlannedFlows } from './flow-witness.ts';
import { changedParts, changesText, readMachine } from './machine.ts';
import { must, type PlaneFault, type PlaneOutcome } from './plane-fault.ts';
import type { PlaneScene } from './plane-scene.ts';

const CONNECTIONS = 20;

export const CLEANUP_FAULT: PlaneFault = {
  name: 'cleanup',
  done: 'connections to a Service; SIGTERM; `fairlead cleanup`; compared with the node before its first start',
  happen: cleanUp,
};

async function cleanUp(scene: PlaneScene): Promise<PlaneOutcome> {
  await scene.serving();
  await removePlannedFlows(scene.namespacePath);
  const hammer = await scene.hammer();
  hammer.start({ hands: 1, pauseMs: 0 });
  while (hammer.made.length < CONNECTIONS) await new Promise(setImmediate);
  await hammer.stop();
  const running = await readMachine(scene.namespacePath);
  const changed = changedParts(scene.untouched, running);
  for (const part of ['rules', 'settings', 'translated'] as const) {
    must(changed.includes(part), `nothing to clean up: ${part} as before the first start`);
  }
  await scene.proxy.stop();
  const from = performance.now();
  await scene.fairlead('cleanup', `--run-folder=${scene.runFolder}`);
  const tookMs = performance.now() - from;
  const after = await readMachine(scene.namespacePath);
  const left = changesText(scene.untouched, after);
  must(left === '', `not as before: ${left}`);
  return {
    rightAfter: `${(tookMs / 1_000).toFixed(1)} s, the whole command`,
    lost: `nothing of others: other flows keep their ids; as before: ${Object.keys(running).join(', ')} (${changed.join(', ')} had changed)`,
  };
}
