import { ChangeLoad } from '../change-load.ts';
import { OwnProxyRun } from '../own-proxy-run.ts';
import { must, type PlaneFault, type PlaneOutcome } from '../plane-fault.ts';
import type { PlaneScene } from '../plane-scene.ts';

const FAILURE_SHARE = 0.1;
const CHANGES = 600;
const RIGHT_DEADLINE_MS = 120_000;
const UNDER_LOAD = { hands: 2, pauseMs: 10 };

export const IPVS_WRITE_FAULT: PlaneFault = {
  name: 'writes to IPVS fail',
  done: `calls to IPVS replaced by a fake: each fails with probability ${FAILURE_SHARE}, one that writes either with one of its messages refused or half way; ${CHANGES} changes of endpoints, of the Service that is connected to as well`,
  happen: failOften,
};

async function failOften(scene: PlaneScene): Promise<PlaneOutcome> {
  await scene.serving();
  const hammer = await scene.hammer();
  await using proxy = new OwnProxyRun(scene);
  await proxy.start({ share: FAILURE_SHARE, failing: 'ipvs' });
  const load = new ChangeLoad(scene.cluster.api, (count) => scene.turnEndpoints(count));
  hammer.start(UNDER_LOAD);
  try {
    while (load.changeCount < CHANGES) await load.change();
    // Calls keep failing until the end: it must recover by retries alone.
    const tookMs = await rightAgain(scene, proxy);
    await hammer.stop();
    must(hammer.failed().length === 0, hammer.verdict());
    const { callCount, failedCallCount } = await proxy.report();
    const share = failedCallCount / callCount;
    must(share > FAILURE_SHARE / 2, `only ${failedCallCount} of ${callCount} calls failed`);
    return {
      rightAfter: `${(tookMs / 1_000).toFixed(1)} s after the last change, while calls still fail`,
      lost: `nothing: ${failedCallCount} of ${callCount} calls failed, 0 differences; ${hammer.verdict()}`,
    };
  } finally {
    await hammer.stop();
  }
}

async function rightAgain(scene: PlaneScene, proxy: OwnProxyRun): Promise<number> {
  try {
    return await scene.inside.becomesRight('diff', RIGHT_DEADLINE_MS);
  } catch (error) {
    const { waiting } = await proxy.report();
    throw new Error(`${String(error)}; the proxy: ${waiting}`, { cause: error });
  }
}
