import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../../../../../lab/host/until.ts';
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
  const deaths: { readonly fromMs: number; readonly toMs: number }[] = [];
  let pid = await livingForwarder(scene);
  hammer.start({ hands: HANDS, pauseMs: 0 });
  try {
    while (deaths.length < kills) {
      await delay(Math.random() * LATEST_KILL_MS);
      const fromMs = monotonicMs();
      process.kill(pid, 'SIGKILL');
      await untilGone(pid);
      deaths.push({ fromMs, toMs: monotonicMs() });
      pid = await livingForwarder(scene, pid);
    }
  } finally {
    await hammer.stop();
  }
  const failed = hammer.failed();
  const unexplained = failed.filter(
    ({ begunMs, answeredMs }) =>
      !deaths.some(({ fromMs, toMs }) => begunMs <= toMs && fromMs <= answeredMs),
  );
  const [first] = unexplained;
  if (first !== undefined) {
    const last = deaths.findLast(({ fromMs }) => fromMs <= first.begunMs) ?? { fromMs: 0, toMs: 0 };
    const from = (first.begunMs - last.toMs).toFixed(0);
    const to = (first.answeredMs - last.toMs).toFixed(0);
    const when = `one from ${from} to ${to} ms after a death that took ${(last.toMs - last.fromMs).toFixed(0)} ms: ${first.error}`;
    must(false, `${unexplained.length} were not open at a kill (${when}); ${hammer.verdict()}`);
  }
  await scene.inside.becomesRight('diff', RIGHT_DEADLINE_MS);
  const { openConnections } = await askForwarder(scene, { do: 'pulse' });
  must(openConnections === 0, `${openConnections} connections are still open`);
  return {
    rightAfter: 'never wrong: nftables translates until another forwarder accepts',
    lost: `connections that were open at one of ${kills} kills: ${hammer.verdict()}`,
  };
}

/** A thread without a CPU still accepts until it is scheduled for its end. */
async function untilGone(pid: number): Promise<void> {
  const isGone = async (): Promise<boolean> => {
    const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
    return threads.length <= 1 && !/^State:\s+[^ZX]/m.test(status);
  };
  await until(isGone, { what: `process ${pid} to end`, deadlineMs: RIGHT_DEADLINE_MS, everyMs: 1 });
}
