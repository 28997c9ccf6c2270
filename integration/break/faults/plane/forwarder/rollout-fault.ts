import { setTimeout as delay } from 'node:timers/promises';
import { enterNamespace } from '../../../../../lab/host/namespaces.ts';
import { run } from '../../../../../lab/host/run.ts';
import type { Pod } from '../../../../../lab/kubelet/pods.ts';
import { must, type PlaneFault, type PlaneOutcome } from '../plane-fault.ts';
import type { PlaneScene } from '../plane-scene.ts';
import { livingForwarder } from './forwarder.ts';

const ENDPOINTS = 4;
/** Between the death of an endpoint and the slice that says so, as a readiness probe takes. */
const STALE_MS = 500;
const SETTLE_MS = 200;
/** 500 connections a second, also while some of them wait 200 ms for an endpoint that is silent. */
const LOAD = { hands: 250, everyMs: 500 };
const PORT = 8080;
const DEADLINE_MS = 30_000;

/** Every second endpoint refuses new connections when it dies, the others drop them. */
const DEATHS = ['refusing', 'silent'] as const;

const RULES = `table inet deaths {
  set refusing { type ipv4_addr; }
  set silent { type ipv4_addr; }
  chain new {
    type filter hook input priority 0;
    tcp flags & (syn | ack) == syn ip daddr @refusing reject with tcp reset
    tcp flags & (syn | ack) == syn ip daddr @silent drop
  }
}`;

export function rollout(replacements: number): PlaneFault {
  return {
    name: 'rollout with early deaths',
    done: `${replacements} endpoints of ${ENDPOINTS} replaced one after the other, each ${STALE_MS} ms after it stopped taking new connections, under 500 connections a second`,
    happen: (scene) => rollOut(scene, replacements),
  };
}

async function rollOut(scene: PlaneScene, replacements: number): Promise<PlaneOutcome> {
  await scene.serving();
  await livingForwarder(scene);
  const pod = await crowd(scene, replacements + ENDPOINTS);
  const path = pod.namespacePath;
  const inPod = async (argv: [string, ...string[]], input = ''): Promise<void> => {
    await run(enterNamespace(path, argv), { input });
  };
  const addressOf = (number: number): string => pod.numbered(number)?.ipv4 ?? '';
  const listed = (first: number): Promise<void> =>
    scene.setEndpoints('rollout', range(first, ENDPOINTS).map(addressOf));
  const address = await scene.service('rollout', { protocol: 'TCP', port: 80, targetPort: PORT });
  await inPod(['nft', '-f', '-'], RULES);
  await listed(1);
  await scene.inside.becomesRight('diff', DEADLINE_MS);
  const hammer = scene.hammerAt(address);
  const startedAt = performance.now();
  hammer.start(LOAD);
  try {
    for (const [index, number] of range(1, replacements).entries()) {
      await delay(SETTLE_MS);
      const death = DEATHS[index % DEATHS.length] ?? 'refusing';
      const element = `{ ${addressOf(number)} }`;
      await inPod(['nft', 'add', 'element', 'inet', 'deaths', death, element]);
      await delay(STALE_MS);
      await listed(number + 1);
    }
    await scene.inside.becomesRight('diff', DEADLINE_MS);
  } finally {
    await hammer.stop();
    await pod.remove();
  }
  const rate = hammer.made.length / ((performance.now() - startedAt) / 1_000);
  must(hammer.failed().length === 0, hammer.verdict());
  return {
    rightAfter: 'never wrong',
    lost: `nothing: ${replacements} deaths; ${hammer.verdict()}, ${rate.toFixed(0)} a second`,
  };
}

/** One pod with an address for every endpoint that there will be. */
async function crowd(scene: PlaneScene, moreAddresses: number): Promise<Pod> {
  return await scene.cluster.lab.pods.run({
    namespace: 'default',
    name: 'crowd',
    nodeIndex: 1,
    labels: {},
    ports: [{ port: PORT, protocol: 'TCP' }],
    ready: true,
    hostNetwork: false,
    moreAddresses,
    server: 'own',
  });
}

function range(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => first + index);
}
