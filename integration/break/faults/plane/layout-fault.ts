import { quantile } from '../../../../lab/host/spread.ts';
import { type Conversation, startDatagrams, startEcho, startStream } from './conversations.ts';
import { buildEarlier } from './earlier-build.ts';
import { changesText, readMachine } from './machine.ts';
import { inMs, must, type PlaneFault, type PlaneOutcome } from './plane-fault.ts';
import { planeProxy } from './plane-proxies.ts';
import type { PlaneScene } from './plane-scene.ts';
import { RulesMonitor } from './rules-monitor.ts';

/** The last commit whose rules held an element for each frontend and endpoint. */
export const EARLIER_COMMIT = 'ee6ae97';
const ROUNDS = 3;
const HELD = 500;
const ECHO_PORT = 7;
const DEADLINE_MS = 60_000;
const UNDER_LOAD = { hands: 4, pauseMs: 0 };

/** A version with another layout of the rules takes over from another, and hands back. */
export function layoutFault(commit: string): PlaneFault {
  return {
    name: 'another layout',
    done: `Fairlead ended and that of commit ${commit} started in its place, and back, ${ROUNDS} times, under connections; ${HELD} connections, a TCP stream and a UDP conversation go on all the time; then \`cleanup\``,
    happen: (scene) => changeLayouts(scene, commit),
  };
}

async function changeLayouts(scene: PlaneScene, commit: string): Promise<PlaneOutcome> {
  const isBuilt = await buildEarlier(commit, planeProxy(scene.proxyName));
  if (!isBuilt) return skipped(`this copy of the repository does not have commit ${commit}`);
  await scene.serving();
  const hammer = await scene.hammer();
  using held = scene.holdAt(hammer.address);
  await held.open(HELD);
  await using talks = await startTalks(scene);
  // Only tables of nftables can be deleted whole.
  const hasTables = planeProxy(scene.proxyName).rules === 'nftables';
  await using monitor = new RulesMonitor(scene.namespacePath);
  if (hasTables) await monitor.ready();
  const tookMs: { earlier: number[]; usual: number[] } = { earlier: [], usual: [] };
  const when: string[] = [];
  hammer.start(UNDER_LOAD);
  try {
    for (let round = 0; round < ROUNDS; round++) {
      for (const build of ['earlier', 'usual'] as const) {
        const from = performance.now();
        const failedBefore = hammer.failed().length;
        await scene.become(scene.proxyName, build);
        tookMs[build].push(performance.now() - from);
        when.push(`${hammer.failed().length - failedBefore} with ${build}`);
      }
    }
  } finally {
    await hammer.stop();
  }
  const seen = hasTables ? await monitor.end() : '';
  const deleted = seen
    .split('\n')
    .filter((line) => /^delete table ip6? fairlead/.test(line)).length;
  const deletions = hasTables ? `tables deleted ${deleted} times` : 'no tables of its own';
  must(hammer.failed().length === 0, `${hammer.verdict()}: ${when.join(', ')}; ${deletions}`);
  const lost = await held.lost();
  must(lost.length === 0, `${lost.length} of ${HELD} held connections are no more: ${lost[0]}`);
  const told = await talks.end();
  await scene.inside.becomesRight('diff', DEADLINE_MS);
  await cleanUp(scene);
  return {
    rightAfter: `never wrong; a start took ${inMs(quantile(tookMs.earlier, 0.5))} there, ${inMs(quantile(tookMs.usual, 0.5))} back (p50 of ${ROUNDS})`,
    lost: `nothing: ${hammer.verdict()}; ${HELD} held connections answered; ${told}; ${deletions}; after cleanup the node is as before the first start`,
  };
}

function skipped(why: string): PlaneOutcome {
  return { rightAfter: '', lost: '', skipped: why };
}

interface Talks extends AsyncDisposable {
  end(): Promise<string>;
}

async function startTalks(scene: PlaneScene): Promise<Talks> {
  const left = scene.pod('left');
  const echo = await startEcho({ namespace: left.namespacePath, port: ECHO_PORT });
  const service = { port: ECHO_PORT, targetPort: ECHO_PORT } as const;
  const tcp = await scene.service('echo-tcp', { protocol: 'TCP', ...service });
  const udp = await scene.service('echo-udp', { protocol: 'UDP', ...service });
  for (const name of ['echo-tcp', 'echo-udp']) {
    await scene.setEndpoints(name, [left.address.ipv4]);
  }
  await scene.inside.becomesRight('diff', DEADLINE_MS);
  const talks: Conversation[] = [
    startStream(scene.targetAt(tcp, ECHO_PORT)),
    await startDatagrams(scene.targetAt(udp, ECHO_PORT)),
  ];
  return {
    end: async () => (await Promise.all(talks.map((talk) => talk.end()))).join(', '),
    async [Symbol.asyncDispose]() {
      for (const talk of talks) talk[Symbol.dispose]();
      await echo[Symbol.asyncDispose]();
    },
  };
}

async function cleanUp(scene: PlaneScene): Promise<void> {
  await scene.proxy.stop();
  await scene.fairlead('cleanup', `--run-folder=${scene.runFolder}`);
  const left = changesText(scene.untouched, await readMachine(scene.namespacePath));
  must(left === '', `after cleanup not as before: ${left}`);
}
