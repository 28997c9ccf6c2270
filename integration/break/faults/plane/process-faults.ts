import { setTimeout as delay } from 'node:timers/promises';
import { quantile } from '../../../../lab/host/spread.ts';
import { CHANGES, lasting } from '../fault.ts';
import { ChangeLoad } from './change-load.ts';
import { inMs, must, type PlaneFault, type PlaneOutcome } from './plane-fault.ts';
import { planeProxy } from './plane-proxies.ts';
import type { PlaneScene } from './plane-scene.ts';
import { RulesMonitor } from './rules-monitor.ts';

/** Latest kill of a running process under load, and of a start, which takes about as long. */
const LATEST_KILL_MS = 400;
const LATEST_KILL_OF_START_MS = 900;
const RIGHT_DEADLINE_MS = 120_000;
/** A hundred kills take four minutes on an idle machine. */
const MOST_KILLING_MS = 10 * 60_000;
const CONNECTIONS = 5_000;
const MOST_RESTARTS = 20;
const AWAY_SECONDS = 120;
const SLOWLY = { hands: 1, pauseMs: 50 };
const ALL_THE_TIME = { hands: 2, pauseMs: 10 };

/** What happens to the process, and to the API server while it serves. `kills`: how often it dies. */
export function processFaults(kills: number): readonly PlaneFault[] {
  return [
    {
      name: 'restart of a synced node',
      done: `SIGTERM and a new start, until ${CONNECTIONS} connections were made meanwhile`,
      happen: restart,
    },
    {
      name: `${kills} x kill -9`,
      done: `endpoints of 200 Services changing all the time, those of the Service that is connected to as well; ${kills} times killed at a random moment, every second time while it starts after another kill; the load pauses, then all is compared`,
      happen: (scene) => killOften(scene, kills),
    },
    {
      name: 'API server unreachable',
      done: `kill -9 and ${AWAY_SECONDS} s without it; changes in the store; started again`,
      happen: loseApiServer,
    },
  ];
}

async function restart(scene: PlaneScene): Promise<PlaneOutcome> {
  await scene.serving();
  const hammer = await scene.hammer();
  await using monitor = new RulesMonitor(scene.namespacePath);
  await monitor.ready();
  const generation = await scene.inside.ask('generation', {});
  const tookMs: number[] = [];
  let during = 0;
  hammer.start({ hands: 8, pauseMs: 0 });
  try {
    while (during < CONNECTIONS && tookMs.length < MOST_RESTARTS) {
      const [madeBefore, from] = [hammer.made.length, performance.now()];
      await scene.proxy.stop();
      scene.proxy.startAgain();
      const { lastInspection } = await scene.synced();
      tookMs.push(performance.now() - from);
      during += hammer.made.length - madeBefore;
      const writes = lastInspection?.writeCount;
      must(writes === 0, `the status tells of ${writes} writes`);
    }
  } finally {
    await hammer.stop();
  }
  must(during >= CONNECTIONS, `only ${during} connections were made during restarts`);
  must(hammer.failed().length === 0, hammer.verdict());
  await stillOf(scene, generation);
  const seen = withoutHandOver(await monitor.end());
  must(seen === '', `nft monitor saw: ${seen.slice(0, 200)}`);
  await scene.inside.becomesRight('diff', RIGHT_DEADLINE_MS);
  const median = inMs(quantile(tookMs, 0.5));
  const quiet = comparesGenerations(scene)
    ? '0 writes, same generation, nft monitor silent'
    : '0 writes, nft monitor saw only the hand-over';
  return {
    rightAfter: `never wrong; a restart took ${median} (${tookMs.length} of them)`,
    lost: `nothing: ${quiet}; ${during} connections during restarts, ${hammer.failed().length} failed`,
  };
}

/** Where connections are handed over to a forwarder, each second is a generation of its own. */
function comparesGenerations({ proxyName }: PlaneScene): boolean {
  return !planeProxy(proxyName).hasForwarder;
}

async function stillOf(scene: PlaneScene, generation: number): Promise<void> {
  if (!comparesGenerations(scene)) return;
  const now = await scene.inside.ask('generation', {});
  must(now === generation, `the generation of the rules went from ${generation} to ${now}`);
}

/**
 * Elements that hand connections over expire unless they are written again, and are deleted when the
 * agent ends.
 */
function withoutHandOver(seen: string): string {
  const ofForwarder = /^(add|delete) element ip6? fairlead forwarder-(pod|host|outside) /;
  const lines = seen.split('\n');
  return lines.filter((line) => !ofForwarder.test(line)).join('\n');
}

async function killOften(scene: PlaneScene, kills: number): Promise<PlaneOutcome> {
  await scene.serving();
  const hammer = await scene.hammer();
  const load = new ChangeLoad(scene.cluster.api, (count) => scene.turnEndpoints(count));
  const rightMs: number[] = [];
  const giveUpAtMs = performance.now() + MOST_KILLING_MS;
  let killCount = 0;
  const kill = async (latestMs: number): Promise<void> => {
    await delay(Math.random() * latestMs);
    await scene.proxy.kill();
    scene.proxy.startAgain();
    killCount++;
  };
  hammer.start(ALL_THE_TIME);
  try {
    for (let round = 0; round < kills && performance.now() < giveUpAtMs; round++) {
      load.resume();
      await kill(LATEST_KILL_MS);
      if (round % 2 === 1) await kill(LATEST_KILL_OF_START_MS);
      const startedAt = performance.now();
      await load.pause();
      await scene.inside.becomesRight('diff', RIGHT_DEADLINE_MS);
      rightMs.push(performance.now() - startedAt);
    }
  } finally {
    await load.pause();
    await hammer.stop();
  }
  must(hammer.failed().length === 0, hammer.verdict());
  must(
    rightMs.length === kills,
    `only ${rightMs.length} in ${MOST_KILLING_MS / 1_000} s; all right`,
  );
  return {
    rightAfter: `${inMs(quantile(rightMs, 0.5))} from the start (p50), ${inMs(Math.max(...rightMs))} at most`,
    lost: `nothing: ${killCount} kills, ${load.changeCount} changes, 0 differences in ${rightMs.length} comparisons; ${hammer.verdict()}`,
  };
}

async function loseApiServer(scene: PlaneScene): Promise<PlaneOutcome> {
  await scene.serving();
  const { cluster } = scene;
  const hammer = await scene.hammer();
  const generation = await scene.inside.ask('generation', {});
  await cluster.apiServer.kill();
  hammer.start(SLOWLY);
  let told: string | undefined;
  try {
    await cluster.changes.inStore(CHANGES);
    await lasting(AWAY_SECONDS);
    const conditions = (await scene.status())?.conditions;
    told = conditions?.apiFresh.isTrue === false ? conditions.apiFresh.why : undefined;
    await stillOf(scene, generation);
  } finally {
    await hammer.stop();
    cluster.apiServer.startAgain();
    await cluster.apiServerReady();
  }
  const tookMs = await scene.inside.becomesRight('diff', RIGHT_DEADLINE_MS * 2);
  must(told !== undefined, 'the status did not say that the API server is away');
  must(hammer.failed().length === 0, hammer.verdict());
  const after = await scene.inside.ask('generation', {});
  must(after !== generation, 'what was changed meanwhile never came into the kernel');
  const still = comparesGenerations(scene) ? 'same generation all the time; ' : '';
  return {
    rightAfter: `${(tookMs / 1_000).toFixed(1)} s after it was ready again`,
    lost: `nothing: ${still}${hammer.verdict()}; the status said "${told}"`,
  };
}
