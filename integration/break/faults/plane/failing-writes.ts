import { ChangeLoad } from './change-load.ts';
import type { Connection } from './connections.ts';
import { OwnProxyRun } from './own-proxy-run.ts';
import { must, type PlaneFault, type PlaneOutcome } from './plane-fault.ts';
import type { PlaneScene } from './plane-scene.ts';

const FAILURE_SHARE = 0.1;
const CHANGES = 600;
const RIGHT_DEADLINE_MS = 120_000;
const HANDS = 2;

/** What fails, and how it is told. */
export interface FailingWrites {
  readonly name: string;
  readonly failing: 'maps' | 'ipvs';
  /** What is replaced by a fake, and how a call of it fails. */
  readonly replaced: string;
  readonly how: string;
  /** `writes` or `calls`. */
  readonly unit: string;
  readonly pauseMs: number;
  /** Of connections, beside that none failed. Gives what to add to the result. */
  readonly alsoMust?: (made: readonly Connection[]) => string;
}

/** Writes keep failing until the end: it must recover by retries alone. */
export function failingWrites(of: FailingWrites): PlaneFault {
  return {
    name: of.name,
    done: `${of.replaced} replaced by a fake: each fails with probability ${FAILURE_SHARE}, ${of.how}; ${CHANGES} changes of endpoints, of the Service that is connected to as well`,
    happen: (scene) => failOften(scene, of),
  };
}

async function failOften(scene: PlaneScene, of: FailingWrites): Promise<PlaneOutcome> {
  const { failing, unit, pauseMs } = of;
  await scene.serving();
  const hammer = await scene.hammer();
  await using proxy = new OwnProxyRun(scene);
  await proxy.start({ share: FAILURE_SHARE, failing });
  const load = new ChangeLoad(scene.cluster.api, (count) => scene.turnEndpoints(count));
  hammer.start({ hands: HANDS, pauseMs });
  try {
    while (load.changeCount < CHANGES) await load.change();
    const tookMs = await rightAgain(scene, proxy);
    await hammer.stop();
    must(hammer.failed().length === 0, hammer.verdict());
    const also = of.alsoMust?.(hammer.made) ?? '';
    const { callCount, failedCallCount } = await proxy.report();
    const share = failedCallCount / callCount;
    must(share > FAILURE_SHARE / 2, `only ${failedCallCount} of ${callCount} ${unit} failed`);
    return {
      rightAfter: `${(tookMs / 1_000).toFixed(1)} s after the last change, while ${unit} still fail`,
      lost: `nothing: ${failedCallCount} of ${callCount} ${unit} failed, 0 differences; ${hammer.verdict()}${also}`,
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
