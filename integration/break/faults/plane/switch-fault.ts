import { type Conversation, startDatagrams, startEcho, startStream } from './conversations.ts';
import { must, type PlaneFault, type PlaneOutcome } from './plane-fault.ts';
import { PLANE_PROXIES } from './plane-proxies.ts';
import type { PlaneScene } from './plane-scene.ts';

const ROUNDS = 3;
const ECHO_PORT = 7;
const DEADLINE_MS = 20_000;
const UNDER_LOAD = { hands: 4, pauseMs: 0 };

export const SWITCH_FAULT: PlaneFault = {
  name: 'switch of modes',
  done: `from one mode to the next (${PLANE_PROXIES.map((name) => name.replace('fairlead-', '')).join(', ')}), ${ROUNDS} times round, under connections; from before the first switch and from each mode on, a TCP stream and a UDP conversation`,
  happen: switchModes,
};

async function switchModes(scene: PlaneScene): Promise<PlaneOutcome> {
  await scene.serving();
  const hammer = await scene.hammer();
  const left = scene.pod('left');
  await using _echo = await startEcho({ namespace: left.namespacePath, port: ECHO_PORT });
  const addresses = {
    tcp: await scene.service('echo-tcp', {
      protocol: 'TCP',
      port: ECHO_PORT,
      targetPort: ECHO_PORT,
    }),
    udp: await scene.service('echo-udp', { protocol: 'UDP', port: ECHO_PORT }),
  };
  for (const name of ['echo-tcp', 'echo-udp']) {
    await scene.setEndpoints(name, [left.address.ipv4]);
  }
  await scene.inside.becomesRight('diff', DEADLINE_MS);
  const talks: { readonly since: string; readonly kind: string; readonly talk: Conversation }[] =
    [];
  using open = new DisposableStack();
  const talkFromNow = async (since: string): Promise<void> => {
    const tcp = open.use(startStream(scene.targetAt(addresses.tcp, ECHO_PORT)));
    const udp = open.use(await startDatagrams(scene.targetAt(addresses.udp, ECHO_PORT)));
    talks.push({ since, kind: 'TCP', talk: tcp }, { since, kind: 'UDP', talk: udp });
  };
  const modes = [...PLANE_PROXIES.filter((name) => name !== scene.proxyName), scene.proxyName];
  const switches: string[] = [];
  await talkFromNow('before');
  hammer.start(UNDER_LOAD);
  try {
    for (let round = 0; round < ROUNDS; round++) {
      for (const mode of modes) {
        const fromMs = performance.now();
        await scene.become(mode);
        switches.push(`${mode} ${fromMs.toFixed(0)}..${performance.now().toFixed(0)} ms`);
        if (round === 0) await talkFromNow(mode);
      }
    }
  } finally {
    await hammer.stop();
  }
  must(hammer.failed().length === 0, hammer.verdict());
  const told: string[] = [];
  for (const { since, kind, talk } of talks) {
    const end = talk.end().catch((error: Error) => {
      const when = switches.join(', ');
      throw new Error(`${kind} since ${since}: ${error.message}; switches: ${when}`, {
        cause: error,
      });
    });
    told.push(`${kind} since ${since}: ${await end}`);
  }
  await scene.inside.becomesRight('diff', DEADLINE_MS);
  return {
    rightAfter: `never wrong in ${switches.length} switches`,
    lost: `nothing: ${hammer.verdict()}; ${told.join('; ')}`,
  };
}
