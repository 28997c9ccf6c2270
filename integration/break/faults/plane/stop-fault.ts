import { readFile, stat } from 'node:fs/promises';
import { REFLECTOR_TIMING } from '../../../../src/cluster/reflector.ts';
import { CHANGES, lasting } from '../fault.ts';
import { FlowWitness } from './flow-witness.ts';
import { livezBecomes } from './livez.ts';
import { must, type PlaneFault, type PlaneOutcome } from './plane-fault.ts';
import type { PlaneScene } from './plane-scene.ts';
import { monotonicMs } from './questions.ts';

/** Longer than any timer of the connection to the API server. */
const STOPPED_SECONDS = 100;
const RIGHT_DEADLINE_MS = 60_000;
const SLOWLY = { hands: 1, pauseMs: 50 };

export function stopFault(seconds: number = STOPPED_SECONDS): PlaneFault {
  return {
    name: 'process stopped',
    done: `SIGSTOP for ${seconds} s; changes through the API, the API server killed and started again, the endpoint of tracked UDP flows removed and a table of ours deleted meanwhile; SIGCONT`,
    happen: (scene) => stop(scene, seconds),
  };
}

async function stop(scene: PlaneScene, seconds: number): Promise<PlaneOutcome> {
  await scene.serving();
  const { cluster } = scene;
  const witness = await FlowWitness.make(scene);
  const hammer = await scene.hammer();
  hammer.start(SLOWLY);
  const { pid, logFile } = scene.proxy;
  const logged = (await stat(logFile)).size;
  scene.proxy.freeze();
  const frozenAtMs = monotonicMs();
  try {
    await cluster.changes.throughApi(cluster.api, CHANGES);
    await witness.loseEndpoint();
    // It ends the watches, of which the process learns only when it runs again.
    await cluster.apiServer.kill();
    cluster.apiServer.startAgain();
    await cluster.apiServerReady();
    await scene.onNode('nft', 'delete', 'table', 'ip6', 'fairlead');
    await lasting(seconds);
    const missing = await scene.inside.ask('diff', {});
    must(missing.length > 0, 'the kernel state was not wrong while the process was stopped');
  } finally {
    scene.proxy.thaw();
  }
  const stoppedMs = monotonicMs() - frozenAtMs;
  const tookMs = await scene.inside.becomesRight('diff', RIGHT_DEADLINE_MS);
  await witness.onlyStaleGone(RIGHT_DEADLINE_MS);
  await livezBecomes(scene, 200, RIGHT_DEADLINE_MS);
  await hammer.stop();
  must(hammer.failed().length === 0, hammer.verdict());
  const log = (await readFile(logFile)).subarray(logged).toString();
  const noticed = /^W\S+ \S+ (connection to the API server lost.*)/m.exec(log)?.[1];
  // On a slow machine: a watch without data for this long is renewed without a word in the log.
  const isStalled = stoppedMs > REFLECTOR_TIMING.watchSilenceMs;
  must(noticed !== undefined || isStalled, 'it never noticed that its watches were ended');
  must(scene.proxy.pid === pid && scene.proxy.ended() === undefined, 'the process ended');
  return {
    rightAfter: `${(tookMs / 1_000).toFixed(1)} s`,
    lost: `nothing: ${hammer.verdict()}; stale flows gone, others kept their ids; /livez 200; ${saidOf(noticed, stoppedMs)}`,
  };
}

function saidOf(noticed: string | undefined, stoppedMs: number): string {
  if (noticed !== undefined) return `it noticed "${noticed}"`;
  return `stopped for ${(stoppedMs / 1_000).toFixed(0)} s, it renewed its watches as stalled`;
}
