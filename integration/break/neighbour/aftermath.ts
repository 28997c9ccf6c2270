import { settledMetrics } from '../../../bench/control/metrics.ts';
import type { Slab } from '../../../bench/slab/slab.ts';
import { paths } from '../../../lab/api/objects.ts';
import { until } from '../../../lab/host/until.ts';
import { NodeInside } from '../faults/plane/node-inside.ts';
import { HOSTILE, NODE } from './names.ts';
import type { MemoryProbe } from './probes.ts';
import type { Aftermath } from './result.ts';
import type { NeighbourScene } from './scene.ts';
import { type Caches, growthText, readCaches } from './slab-growth.ts';

const CONVERGE_DEADLINE_MS = 180_000;
const DELETE_DEADLINE_MS = 240_000;

/** After the last write: does the kernel match the API server, and is all memory released? */
export async function findAftermath(of: {
  scene: NeighbourScene;
  memory: MemoryProbe;
  slab: Slab;
  cachesBefore: Caches;
}): Promise<Aftermath> {
  const { scene, memory, slab } = of;
  const { api } = scene.lab;
  const converged = await converge(scene);
  // Nobody but the lab ends a pod of it, and a namespace with a pod in it does not go.
  await scene.hostilePod.remove();
  await api.delete(paths.namespace(HOSTILE));
  const isGone = async (): Promise<boolean> =>
    (await api.find(paths.namespace(HOSTILE))) === undefined;
  await until(isGone, { what: 'the namespace to go', deadlineMs: DELETE_DEADLINE_MS });
  const emptied = await converge(scene);
  await slab.calm(AbortSignal.timeout(CONVERGE_DEADLINE_MS));
  const { residentBytes } = await memory.sample();
  const slabBytes = slab.aboveBytes;
  return {
    convergedSeconds: converged.seconds,
    emptiedSeconds: emptied.seconds,
    difference: converged.difference ?? emptied.difference,
    residentBytes,
    slabBytes,
    grown: growthText(of.cachesBefore, await readCaches()),
  };
}

interface Convergence {
  /** Undefined: a proxy that cannot be asked. */
  readonly seconds?: number;
  readonly difference?: string;
}

async function converge(scene: NeighbourScene): Promise<Convergence> {
  const namespacePath = scene.lab.namespacePath(NODE);
  const fromMs = performance.now();
  if (!scene.proxy.variant.name.startsWith('fairlead')) {
    await settledMetrics(namespacePath, AbortSignal.timeout(CONVERGE_DEADLINE_MS));
    return {};
  }
  const { configPath, runFolder } = scene;
  using inside = new NodeInside({ namespacePath, configPath, runFolder });
  try {
    await inside.becomesRight('diff', CONVERGE_DEADLINE_MS);
    return { seconds: (performance.now() - fromMs) / 1_000 };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { seconds: Number.POSITIVE_INFINITY, difference: error.message };
  }
}
