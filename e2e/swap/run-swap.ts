import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { abortable } from '../../lab/host/interruption.ts';
import type { Progress } from '../../lab/host/progress.ts';
import { type HelmMajor, provideHelm } from '../../lab/parts/helm.ts';
import { startRealCluster } from '../../lab/real/cluster.ts';
import { makeFairleadArchive } from '../../lab/real/proxies/fairlead.ts';
import { findRealProxy } from '../../lab/real/proxies/registry.ts';
import { kubectlOf } from './kubectl.ts';
import { finishLoad, type LoadOn, provideLoadArchive, startLoad } from './load.ts';
import type { Step } from './procedure.ts';
import { assertTables } from './tables.ts';
import { type Phase, type PhaseResult, tallyPhases } from './tally.ts';
import { procedureOf, type Way } from './ways.ts';
import { CHECKOUT, openWorkshop } from './workshop.ts';

export interface SwapRun {
  readonly way: Way;
  /** Which Helm, where the way has one. */
  readonly helm: HelmMajor;
  readonly nodes: number;
  readonly perSecond: number;
  /** How long each proxy is left alone, before, between and after. */
  readonly restMs: number;
  /** Instead of both ways in the order of the document: kube-proxy's rules go before Fairlead comes. */
  readonly isSabotaged: boolean;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

const DOCUMENT = join(CHECKOUT, 'docs/install.md');

/** Changes the proxy of a cluster that is in use, by the words of docs/install.md, and back again. */
export async function runSwap(plan: SwapRun): Promise<PhaseResult[]> {
  const { progress, signal } = plan;
  const markdown = await readFile(DOCUMENT, 'utf8');
  const there = procedureOf(plan.way, markdown, 'there');
  const back = procedureOf(plan.way, markdown, 'back');
  const helm = plan.way === 'helm' ? await provideHelm({ progress, signal }, plan.helm) : undefined;
  await using cluster = await startRealCluster({
    nodeCount: plan.nodes,
    proxy: findRealProxy('upstream-nftables'),
    // Under the name that the manifests have, so that an operator has nothing to edit.
    moreArchives: async (folder) => [
      await makeFairleadArchive({ folder, signal }, { isReleaseName: true }),
      await provideLoadArchive(),
    ],
    progress,
    signal,
  });
  const workshop = await openWorkshop(cluster, { helm, signal });
  const { perSecond } = plan;
  const load: LoadOn = { cluster, kubectl: kubectlOf(cluster, signal), perSecond, signal };
  await progress.step('a server on each node, a client', () => startLoad(load));
  const phases: Phase[] = [];
  const during = async (title: string, work: () => Promise<unknown>): Promise<void> => {
    const from = Date.now();
    await progress.step(title, work);
    phases.push({ title, from, to: Date.now() });
  };
  const rest = (title: string) => during(title, () => abortable(delay(plan.restMs), signal));
  const follow = async (way: string, steps: readonly Step[]): Promise<void> => {
    for (const step of steps) await during(`${way} ${step.title}`, () => workshop.do(step));
  };
  await rest('kube-proxy alone');
  await follow('there', plan.isSabotaged ? rulesRemovedFirst(there) : there);
  await assertTables(cluster, { of: 'fairlead', not: 'kube-proxy' });
  await rest('Fairlead alone');
  if (!plan.isSabotaged) {
    await follow('back', back);
    await assertTables(cluster, { of: 'kube-proxy', not: 'fairlead' });
    await rest('kube-proxy alone again');
  }
  return tallyPhases(phases, await finishLoad(load));
}

/** The second step, which starts Fairlead, after those that end kube-proxy and remove its rules. */
function rulesRemovedFirst(steps: readonly Step[]): Step[] {
  const [look, start, stop, remove, ...others] = steps;
  return [look, stop, remove, start, ...others].filter((step) => step !== undefined);
}
