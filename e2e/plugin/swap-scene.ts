import { setTimeout as delay } from 'node:timers/promises';
import { type RealCluster, startRealCluster } from '../../lab/real/cluster.ts';
import { makeFairleadArchive } from '../../lab/real/proxies/fairlead.ts';
import { findRealProxy } from '../../lab/real/proxies/registry.ts';
import { kubectlOf } from '../swap/kubectl.ts';
import { finishLoad, type LoadOn, provideLoadArchive, startLoad } from '../swap/load.ts';
import { type Phase, type PhaseResult, tallyPhases } from '../swap/tally.ts';
import { type Desk, openDesk } from './desk.ts';

const NODES = 2;
const PER_SECOND = 100;
const REST_MS = 5_000;

/** A cluster of real nodes under load, and a person with the plugin. */
export interface SwapScene extends AsyncDisposable {
  readonly cluster: RealCluster;
  readonly desk: Desk;
  /** What clients notice while this is done counts for it. */
  during<T>(title: string, work: () => Promise<T>): Promise<T>;
  rest(title: string): Promise<void>;
  results(): Promise<PhaseResult[]>;
}

export async function openSwapScene(proxy: string): Promise<SwapScene> {
  const { signal } = new AbortController();
  const cluster = await startRealCluster({
    nodeCount: NODES,
    proxy: findRealProxy(proxy),
    // Under the name that the manifests have.
    moreArchives: async (folder) => [
      await makeFairleadArchive({ folder, signal }, { isReleaseName: true }),
      await provideLoadArchive(),
    ],
  });
  const kubectl = kubectlOf(cluster, signal);
  const load: LoadOn = { cluster, kubectl, perSecond: PER_SECOND, signal };
  const phases: Phase[] = [];
  const during: SwapScene['during'] = async (title, work) => {
    const from = Date.now();
    try {
      return await work();
    } finally {
      phases.push({ title, from, to: Date.now() });
    }
  };
  const desk = await openDesk(cluster);
  await startLoad(load);
  return {
    cluster,
    desk,
    during,
    rest: (title) => during(title, () => delay(REST_MS)),
    results: async () => tallyPhases(phases, await finishLoad(load)),
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  };
}
