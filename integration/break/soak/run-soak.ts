import { setTimeout as pause } from 'node:timers/promises';
import { SHIPPED_FLAGS } from '../../../bench/bundle.ts';
import type { Progress } from '../../../lab/host/progress.ts';
import { startLab } from '../../../lab/lab.ts';
import { LOAD } from '../faults/changes.ts';
import { ChangeLoad } from '../faults/plane/change-load.ts';
import { livingForwarder } from '../faults/plane/forwarder/forwarder.ts';
import { planeProxy } from '../faults/plane/plane-proxies.ts';
import { PlaneScene } from '../faults/plane/plane-scene.ts';
import { Scene } from '../faults/scene.ts';
import { plantLeak } from './leak.ts';
import type { SoakResult } from './result.ts';
import { type Sample, Sampler } from './sample.ts';
import { createRolled, flapOnce, paced, rollOnce } from './writers.ts';

const MINUTE_MS = 60_000;
/** As many samples as a plot has room for, but not more often than once a second. */
const SAMPLES = 600;
const LEAST_EVERY_MS = 1_000;
const ROLL_EVERY_MS = 200;
const FLAP_EVERY_MS = 5_000;
const WRITES_AT_ONCE = 16;
const CLIENTS = { hands: 4, everyMs: 40 };
const CONVERGE_DEADLINE_MS = 60_000;

export interface SoakOptions {
  readonly mode: string;
  readonly minutes: number;
  readonly changesPerSecond: number;
  readonly isLeakPlanted: boolean;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

/** A node under changes and clients for so long, sampled all the time. */
export async function runSoak(options: SoakOptions): Promise<SoakResult> {
  const { mode, isLeakPlanted, progress, signal } = options;
  const proxy = `fairlead-${mode}`;
  const builds = isLeakPlanted ? await plantLeak(planeProxy(proxy)) : undefined;
  await using lab = await startLab({ nodeCount: 1, load: LOAD, progress, signal });
  await using cluster = new Scene(lab);
  await cluster.prepare();
  await using scene = new PlaneScene(cluster, proxy, builds);
  await progress.step('a node that serves', () => scene.prepare());
  await scene.becomeWith({ NODE_OPTIONS: SHIPPED_FLAGS.join(' ') });
  await createRolled(cluster.api);
  const title = `${mode}, ${options.minutes} min`;
  return await progress.step(title, (detail) => soak(scene, { ...options, detail }));
}

async function soak(
  scene: PlaneScene,
  options: SoakOptions & { readonly detail: (text: string) => void },
): Promise<SoakResult> {
  const { api } = scene.cluster;
  const hammer = await scene.hammer();
  const churn = new ChangeLoad(api, (count) => scene.turnEndpoints(count));
  const over = new AbortController();
  const signal = AbortSignal.any([options.signal, over.signal]);
  const most = WRITES_AT_ONCE;
  const everyMs = 1_000 / options.changesPerSecond;
  hammer.start(CLIENTS);
  const writing = Promise.all([
    paced(() => churn.change(), { everyMs, most, signal }),
    paced((serial) => rollOnce(api, serial), { everyMs: ROLL_EVERY_MS, most: 1, signal }),
    paced((serial) => flapOnce(api, serial), { everyMs: FLAP_EVERY_MS, most: 1, signal }),
  ]);
  let samples: Sample[];
  try {
    samples = await sampled(scene, options);
  } finally {
    over.abort();
    await Promise.all([writing, hammer.stop()]);
  }
  const [churned, rolling, flapping] = await writing;
  const ended = scene.proxy.ended();
  const left = ended === undefined ? await differencesLeft(scene) : 0;
  return {
    mode: options.mode,
    minutes: options.minutes,
    isLeakPlanted: options.isLeakPlanted,
    writes: { churn: churned, rolling, flapping },
    connections: {
      made: hammer.made.length,
      failed: hammer.failed().length,
      example: hammer.verdict(),
    },
    ...(ended === undefined ? {} : { ended }),
    differences: left,
    samples,
  };
}

async function sampled(
  scene: PlaneScene,
  of: SoakOptions & { readonly detail: (text: string) => void },
): Promise<Sample[]> {
  const wholeMs = of.minutes * MINUTE_MS;
  const everyMs = Math.max(LEAST_EVERY_MS, wholeMs / SAMPLES);
  const pids = async (): Promise<number[]> => {
    const hasForwarder = planeProxy(scene.proxyName).hasForwarder;
    return [scene.proxy.pid, ...(hasForwarder ? [await livingForwarder(scene)] : [])];
  };
  const sampler = new Sampler({ namespacePath: scene.namespacePath, pids });
  const samples: Sample[] = [];
  const endMs = performance.now() + wholeMs;
  // The first one has everything since the start in its histogram.
  await sampler.take();
  for (let nextMs = performance.now() + everyMs; nextMs < endMs; nextMs += everyMs) {
    await pause(Math.max(0, nextMs - performance.now()), undefined, { signal: of.signal });
    if (scene.proxy.ended() !== undefined) break;
    const sample = await sampler.take();
    samples.push(sample);
    const megabytes = (sample.residentBytes / 1024 ** 2).toFixed(0);
    of.detail(`${sample.atSeconds.toFixed(0)} s: ${megabytes} MB, ${sample.changes} changes`);
  }
  return samples;
}

async function differencesLeft(scene: PlaneScene): Promise<number> {
  return await scene.inside.becomesRight('diff', CONVERGE_DEADLINE_MS).then(
    () => 0,
    async () => (await scene.inside.ask('diff', {})).length,
  );
}
