import { setTimeout as pause } from 'node:timers/promises';
import { SHIPPED_FLAGS } from '../../../bench/bundle.ts';
import type { ApiClient } from '../../../lab/api/client.ts';
import type { Progress } from '../../../lab/host/progress.ts';
import { startLab } from '../../../lab/lab.ts';
import { LOAD } from '../faults/changes.ts';
import { ChangeLoad } from '../faults/plane/change-load.ts';
import { planeProxy } from '../faults/plane/plane-proxies.ts';
import { PlaneScene } from '../faults/plane/plane-scene.ts';
import { Scene } from '../faults/scene.ts';
import { plantLeak } from './leak.ts';
import type { SoakResult } from './result.ts';
import { SoakedNode } from './soaked-node.ts';
import { createRolled, flapOnce, paced, rollOnce } from './writers.ts';

const MINUTE_MS = 60_000;
/** As many samples as a plot has room for, but not more often than once a second. */
const SAMPLES = 600;
const LEAST_EVERY_MS = 1_000;
/** In changes: a slow machine, such as User-mode Linux, gets the same mixture with a lower rate. */
const ROLL_EVERY = 20;
const FLAP_EVERY = 500;
/** Of all nodes together: clients and servers are this process. */
const CONNECTIONS_PER_CHANGE = 1;
const WRITES_AT_ONCE = 16;

export interface SoakOptions {
  /** A node for each, side by side in one cluster. */
  readonly modes: readonly string[];
  readonly minutes: number;
  readonly changesPerSecond: number;
  readonly isLeakPlanted: boolean;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

/** Nodes under changes and clients for so long, sampled all the time. */
export async function runSoak(options: SoakOptions): Promise<SoakResult[]> {
  const { modes, progress, signal } = options;
  const nodeCount = modes.length;
  await using lab = await startLab({ nodeCount, load: LOAD, progress, signal });
  await using cluster = new Scene(lab);
  await cluster.prepare();
  await using scenes = new AsyncDisposableStack();
  const nodes: SoakedNode[] = [];
  for (const [index, mode] of modes.entries()) {
    await progress.step(`a node of mode ${mode}`, async () => {
      const name = `fairlead-${mode}`;
      const builds = options.isLeakPlanted ? await plantLeak(planeProxy(name)) : undefined;
      const scene = scenes.use(new PlaneScene(cluster, name, { builds, nodeIndex: index + 1 }));
      await scene.prepare();
      await scene.becomeWith({ NODE_OPTIONS: SHIPPED_FLAGS.join(' ') });
      nodes.push(new SoakedNode({ mode, scene, hammer: await scene.hammer() }));
    });
  }
  await createRolled(cluster.api);
  const title = `${modes.join(', ')}: ${options.minutes} min`;
  return await progress.step(title, (detail) =>
    soak({ nodes, api: cluster.api }, { ...options, detail }),
  );
}

type Run = SoakOptions & { readonly detail: (text: string) => void };

async function soak(
  { nodes, api }: { readonly nodes: readonly SoakedNode[]; readonly api: ApiClient },
  options: Run,
): Promise<SoakResult[]> {
  const churn = new ChangeLoad(api, async (count) => {
    await nodes[count % nodes.length]?.scene.turnEndpoints(Math.floor(count / nodes.length));
  });
  const over = new AbortController();
  const signal = AbortSignal.any([options.signal, over.signal]);
  const most = WRITES_AT_ONCE;
  const everyMs = 1_000 / options.changesPerSecond;
  const connectionsPerSecond = CONNECTIONS_PER_CHANGE * options.changesPerSecond;
  for (const node of nodes) await node.start(connectionsPerSecond / nodes.length);
  const writing = Promise.all([
    paced(() => churn.change(), { everyMs, most, signal }),
    paced((serial) => rollOnce(api, serial), { everyMs: ROLL_EVERY * everyMs, most: 1, signal }),
    paced((serial) => flapOnce(api, serial), { everyMs: FLAP_EVERY * everyMs, most: 1, signal }),
  ]);
  try {
    await sample(nodes, options);
  } finally {
    over.abort();
    await Promise.all([writing, ...nodes.map((node) => node.stop())]);
  }
  const [churned, rolling, flapping] = await writing;
  const writes = {
    churn: churned.count,
    rolling: rolling.count,
    flapping: flapping.count,
    missed: churned.missed + rolling.missed + flapping.missed,
  };
  const { minutes, isLeakPlanted } = options;
  return await Promise.all(nodes.map((node) => node.result({ minutes, isLeakPlanted, writes })));
}

async function sample(nodes: readonly SoakedNode[], of: Run): Promise<void> {
  const wholeMs = of.minutes * MINUTE_MS;
  const everyMs = Math.max(LEAST_EVERY_MS, wholeMs / SAMPLES);
  const endMs = performance.now() + wholeMs;
  for (let nextMs = performance.now() + everyMs; nextMs < endMs; ) {
    await pause(Math.max(0, nextMs - performance.now()), undefined, { signal: of.signal });
    if (nodes.every(({ hasEnded }) => hasEnded)) return;
    await Promise.all(nodes.map((node) => node.sample()));
    of.detail(nodes.map(nowOf).join('; '));
    // Samples that were missed are not made up for: many at one moment would bend the line.
    nextMs = Math.max(nextMs + everyMs, performance.now());
  }
}

function nowOf({ mode, samples }: SoakedNode): string {
  const last = samples.at(-1);
  if (last === undefined) return `${mode}: no sample`;
  const { residentBytes, memory, changes } = last;
  const parts = `files ${megabytes(memory?.fileBytes)}, heap ${megabytes(memory?.claimedHeapBytes)}`;
  return `${mode} ${megabytes(residentBytes)} MB (${parts}, malloc ${megabytes(memory?.mallocBytes)}), ${changes} changes`;
}

function megabytes(bytes = 0): string {
  return (bytes / 1024 ** 2).toFixed(0);
}
