import { setTimeout as delay } from 'node:timers/promises';
import { must, type PlaneFault, type PlaneOutcome } from '../plane-fault.ts';
import type { PlaneScene } from '../plane-scene.ts';
import { monotonicMs } from '../questions.ts';
import { askForwarder, livingForwarder } from './forwarder.ts';

const HANDS = 8;
const LATEST_KILL_MS = 500;
const RIGHT_DEADLINE_MS = 60_000;

/** Only connections that are open at the moment of a kill may end with it. */
export function forwarderKilled(kills: number): PlaneFault {
  return {
    name: 'forwarder killed',
    done: `kill -9 of the forwarder, ${kills} times at a random moment, under connections`,
    happen: (scene) => killForwarder(scene, kills),
  };
}

async function killForwarder(scene: PlaneScene, kills: number): Promise<PlaneOutcome> {
  await scene.serving();
  const hammer = await scene.hammer();
  const killedMs: number[] = [];
  let pid = await livingForwarder(scene);
  hammer.start({ hands: HANDS, pauseMs: 0 });
  try {
    while (killedMs.length < kills) {
      await delay(Math.random() * LATEST_KILL_MS);
      process.kill(pid, 'SIGKILL');
      killedMs.push(monotonicMs());
      pid = await livingForwarder(scene, pid);
    }
  } finally {
    await hammer.stop();
  }
  const failed = hammer.failed();
  const unexplained = failed.filter(
    ({ begunMs, answeredMs }) => !killedMs.some((ms) => begunMs <= ms && ms <= answeredMs),
  );
  must(
    unexplained.length === 0,
    `${unexplained.length} were not open at a kill; ${hammer.verdict()}`,
  );
  must(failed.length <= kills * HANDS, hammer.verdict());
  await scene.inside.becomesRight('diff', RIGHT_DEADLINE_MS);
  const { openConnections } = await askForwarder(scene, { do: 'pulse' });
  must(openConnections === 0, `${openConnections} connections are still open`);
  return {
    rightAfter: 'never wrong: nftables translates until another forwarder accepts',
    lost: `connections that were open at one of ${kills} kills: ${hammer.verdict()}`,
  };
}
