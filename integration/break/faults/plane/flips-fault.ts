import { misled } from './flips.ts';
import { OwnProxyRun } from './own-proxy-run.ts';
import { must, type PlaneFault, type PlaneOutcome } from './plane-fault.ts';
import type { PlaneScene } from './plane-scene.ts';

const FLIPS = 2_000;
const HANDS = 4;
/** Two changes that come at once become one transaction; most must not. */
const LEAST_ACKNOWLEDGED = FLIPS / 2;
const RIGHT_DEADLINE_MS = 30_000;
const SERVICE = 'flip';

export const FLIPS_FAULT: PlaneFault = {
  name: 'endpoint flips under load',
  done: `${FLIPS} times the only endpoint of a Service replaced by another, through the API, while a pod connects all the time`,
  happen: flip,
};

async function flip(scene: PlaneScene): Promise<PlaneOutcome> {
  const pods = [scene.pod('left'), scene.pod('right')] as const;
  const address = await scene.service(SERVICE, { protocol: 'TCP', port: 80 });
  // With none the first transaction of the proxy begins what is known about its endpoints.
  await scene.setEndpoints(SERVICE, []);
  await using proxy = new OwnProxyRun(scene);
  await proxy.start();
  const turn = (count: number) =>
    scene.setEndpoints(SERVICE, [pods[count % 2 ? 1 : 0].address.ipv4]);
  await turn(0);
  await scene.inside.becomesRight('diff', RIGHT_DEADLINE_MS);
  const hammer = scene.hammerAt(address).start({ hands: HANDS, pauseMs: 0 });
  try {
    for (let count = 1; count <= FLIPS; count++) await turn(count);
  } finally {
    await hammer.stop();
  }
  const tookMs = await scene.inside.becomesRight('diff', RIGHT_DEADLINE_MS);
  const { acknowledgements, received } = await proxy.report(`default/${SERVICE}`);
  const transactions = acknowledgements.length;
  must(transactions >= LEAST_ACKNOWLEDGED, `only ${transactions} transactions`);
  must(hammer.failed().length === 0, hammer.verdict());
  const addressOf = (name: string): string =>
    pods.find(({ spec }) => spec.name === name)?.address.ipv4 ?? name;
  const wrong = misled(hammer.made, acknowledgements, addressOf);
  must(wrong.length === 0, `${wrong.length} connections reached an endpoint after its removal`);
  return {
    rightAfter: `p50 ${received.p50Ms.toFixed(1)} ms from receipt to acknowledgement; ${tookMs.toFixed(0)} ms after the last flip`,
    lost: `nothing: ${hammer.verdict()}, 0 reached an endpoint after its removal was acknowledged (${transactions} transactions)`,
  };
}
