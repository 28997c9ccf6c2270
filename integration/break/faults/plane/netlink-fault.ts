import { ChangeLoad } from './change-load.ts';
import { OwnProxyRun } from './own-proxy-run.ts';
import { must, type PlaneFault, type PlaneOutcome } from './plane-fault.ts';
import type { PlaneScene } from './plane-scene.ts';

const FAILURE_SHARE = 0.1;
const CHANGES = 600;
const RIGHT_DEADLINE_MS = 120_000;

export const NETLINK_FAULT: PlaneFault = {
  name: 'netlink calls fail',
  done: `every call (open, send, receive, listen) fails with probability ${FAILURE_SHARE}, also after the kernel has done what it was asked; ${CHANGES} changes of endpoints`,
  happen: failOften,
};

async function failOften(scene: PlaneScene): Promise<PlaneOutcome> {
  await using proxy = new OwnProxyRun(scene);
  await proxy.start({ share: FAILURE_SHARE, failing: 'netlink' });
  const load = new ChangeLoad(scene.cluster.api);
  while (load.changeCount < CHANGES) await load.change();
  // Calls keep failing until the end: it must recover by retries alone.
  const tookMs = await rightAgain(scene, proxy);
  const { callCount, failedCallCount } = await proxy.report();
  const share = failedCallCount / callCount;
  must(share > FAILURE_SHARE / 2, `only ${failedCallCount} of ${callCount} calls failed`);
  return {
    rightAfter: `${(tookMs / 1_000).toFixed(1)} s after the last change, while calls still fail`,
    lost: `nothing: ${failedCallCount} of ${callCount} calls failed, 0 differences`,
  };
}

async function rightAgain(scene: PlaneScene, proxy: OwnProxyRun): Promise<number> {
  try {
    return await scene.inside.becomesRight('diff', RIGHT_DEADLINE_MS);
  } catch (error) {
    const { waiting } = await proxy.report();
    throw new Error(`${String(error)}; the proxy: ${waiting}`, { cause: error });
  }
}
