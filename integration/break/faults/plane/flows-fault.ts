import { quantile } from '../../../../lab/host/spread.ts';
import { until } from '../../../../lab/host/until.ts';
import { OwnProxyRun } from './own-proxy-run.ts';
import { must, type PlaneFault, type PlaneOutcome } from './plane-fault.ts';
import type { PlaneScene } from './plane-scene.ts';
import { clientOf, targetOf } from './planned-flows.ts';
import type { FlowPlan } from './questions.ts';

const FLOWS = 200_000;
const SERVICES = 10;
const CHANGES_PER_ROUND = 200;
const LEAST_MEASURED = CHANGES_PER_ROUND * 0.8;
/** Without and with, alternately, so that a slower minute of the machine affects both. */
const ROUNDS = 3;
const MOST_RATIO = 1.3;
const DEADLINE_MS = 60_000;
const PORT = 53;

export const FLOWS_FAULT: PlaneFault = {
  name: '200,000 tracked connections',
  done: `${ROUNDS} rounds without and with ${FLOWS} UDP flows, ${CHANGES_PER_ROUND} changes of UDP Services in each; then one of two endpoints is removed`,
  happen: crowd,
};

async function crowd(scene: PlaneScene): Promise<PlaneOutcome> {
  const plan = await makePlan(scene);
  const without: number[] = [];
  const crowded: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    await scene.onNode('conntrack', '-F');
    without.push(await latencyMs(scene, plan));
    await scene.inside.ask('insertFlows', { plan });
    crowded.push(await latencyMs(scene, plan));
  }
  const lost = await onlyStaleGo(scene, plan);
  await scene.onNode('conntrack', '-F');
  const [plainMs, crowdedMs] = [quantile(without, 0.5), quantile(crowded, 0.5)];
  const ratio = crowdedMs / plainMs;
  const figures = `p50 ${plainMs.toFixed(2)} ms without, ${crowdedMs.toFixed(2)} ms with, ratio ${ratio.toFixed(2)}`;
  must(ratio <= MOST_RATIO, figures);
  return { rightAfter: figures, lost };
}

async function makePlan(scene: PlaneScene): Promise<FlowPlan> {
  const services = [];
  for (let index = 0; index < SERVICES; index++) {
    const address = await scene.service(`udp-${index}`, { protocol: 'UDP', port: PORT });
    const endpoints = [`10.201.0.${index}`, `10.201.1.${index}`];
    await scene.setEndpoints(`udp-${index}`, endpoints);
    services.push({ address, endpoints });
  }
  return { count: FLOWS, services };
}

/** The median from receipt to acknowledgement, of a proxy that was started for it. */
async function latencyMs(scene: PlaneScene, plan: FlowPlan): Promise<number> {
  await using proxy = new OwnProxyRun(scene);
  await proxy.start();
  for (let change = 0; change < CHANGES_PER_ROUND; change++) {
    const index = change % SERVICES;
    const endpoints = plan.services[index]?.endpoints ?? [];
    const isMore = Math.floor(change / SERVICES) % 2 === 0;
    // One without flows comes and goes: each time flows to it are looked for among all others.
    await scene.setEndpoints(`udp-${index}`, isMore ? [...endpoints, '10.201.2.1'] : endpoints);
  }
  await scene.inside.becomesRight('diff', DEADLINE_MS);
  const { received } = await proxy.report();
  // A change that is reverted before it is written does not count.
  must(received.count >= LEAST_MEASURED, `only ${received.count} changes were measured`);
  return received.p50Ms;
}

/** Takes an endpoint of every Service away, and says what became of the flows. */
async function onlyStaleGo(scene: PlaneScene, plan: FlowPlan): Promise<string> {
  const before = await scene.inside.ask('flows', { plan });
  const count = Object.keys(before).length;
  must(count === plan.count, `${count} flows before the endpoint went, not ${plan.count}`);
  await using proxy = new OwnProxyRun(scene);
  await proxy.start();
  const gone = new Set(plan.services.map(({ endpoints }) => endpoints[1]));
  for (const [index, { endpoints }] of plan.services.entries()) {
    await scene.setEndpoints(`udp-${index}`, endpoints.slice(0, 1));
  }
  const stays = (index: number): boolean => !gone.has(targetOf(plan, index).endpoint);
  const kept = Array.from({ length: plan.count }, (_, index) => index).filter(stays);
  const areGone = async () => {
    const found = await scene.inside.ask('flows', { plan });
    return Object.keys(found).length <= kept.length ? found : undefined;
  };
  const what = `${plan.count - kept.length} stale flows to go`;
  const after = await until(areGone, { what, deadlineMs: DEADLINE_MS });
  const changed = kept.filter((index) => after[clientOf(index)] !== before[clientOf(index)]);
  must(
    changed.length === 0,
    `${changed.length} flows that were not stale were deleted or replaced`,
  );
  return `the ${plan.count - kept.length} stale flows and nothing else: ${kept.length} kept their ids`;
}
