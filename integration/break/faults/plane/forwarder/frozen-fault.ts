import { setTimeout as delay } from 'node:timers/promises';
import { must, type PlaneFault, type PlaneOutcome } from '../plane-fault.ts';
import type { PlaneScene } from '../plane-scene.ts';
import { askForwarder, livingForwarder } from './forwarder.ts';

const FREEZES = 25;
/** Longer than the first attempt to connect may take, shorter than the agent waits for a pulse. */
const FROZEN_MS = 400;
/** So short that connections to endpoints are being made when the next pause begins. */
const MOST_AWAKE_MS = 8;
const LOAD = { hands: 16, pauseMs: 0 };

/** A forwarder without a CPU must not take its own lateness for that of an endpoint. */
export const FROZEN_FAULT: PlaneFault = {
  name: 'forwarder without a CPU',
  done: `SIGSTOP for ${FROZEN_MS} ms, ${FREEZES} times, each at most ${MOST_AWAKE_MS} ms after the one before, under connections`,
  happen: freezeOften,
};

async function freezeOften(scene: PlaneScene): Promise<PlaneOutcome> {
  await scene.serving();
  const hammer = await scene.hammer();
  const pid = await livingForwarder(scene);
  const before = await timedOut(scene);
  hammer.start(LOAD);
  try {
    for (let freeze = 0; freeze < FREEZES; freeze++) {
      process.kill(pid, 'SIGSTOP');
      await delay(FROZEN_MS);
      process.kill(pid, 'SIGCONT');
      await delay(Math.random() * MOST_AWAKE_MS);
    }
  } finally {
    process.kill(pid, 'SIGCONT');
    await hammer.stop();
  }
  must(hammer.failed().length === 0, hammer.verdict());
  const blamed = (await timedOut(scene)) - before;
  must(blamed === 0, `endpoints were given up ${blamed} times; ${hammer.verdict()}`);
  return { rightAfter: 'never wrong', lost: `nothing: no endpoint blamed; ${hammer.verdict()}` };
}

async function timedOut(scene: PlaneScene): Promise<number> {
  const { endpoints } = await askForwarder(scene, { do: 'counts' });
  return endpoints.reduce((sum, each) => sum + each.timedOut, 0);
}
