import { abortable } from '../../lab/host/interruption.ts';
import type { Daemon } from '../../lab/host/processes.ts';
import { type Progress, silentProgress } from '../../lab/host/progress.ts';
import { type Lab, startLab } from '../../lab/lab.ts';
import type { PodNetwork } from '../../lab/network/topology.ts';
import type { ProxySettings, ProxyVariant } from '../../lab/proxies/contract.ts';
import type { Scenario } from '../scenario.ts';
import { AddressPool } from '../world.ts';
import { Barrier } from './barrier.ts';
import { mapConcurrently } from './concurrently.ts';
import { type Bench, runScenario, type ScenarioResult } from './run-scenario.ts';

export interface CorpusRun {
  readonly variant: ProxyVariant;
  /** The network of the labs; scenarios about another are not for this run. */
  readonly network: string;
  readonly scenarios: readonly Scenario[];
  readonly atOnce: number;
  readonly progress?: Progress;
  readonly signal?: AbortSignal | undefined;
  readonly onResult?: (result: ScenarioResult) => void;
}

const ANSWER_DEADLINE_MS = 10_000;
const BARRIER_DEADLINE_MS = 30_000;

/** Runs scenarios on one proxy: a lab for each pod network, a restart for each configuration. */
export async function runCorpus(run: CorpusRun): Promise<ScenarioResult[]> {
  const byPodNetwork = Map.groupBy(run.scenarios, (s) => s.setup?.podNetwork ?? 'routed');
  const results: ScenarioResult[] = [];
  for (const [podNetwork, scenarios] of byPodNetwork) {
    results.push(...(await runInLab({ ...run, scenarios }, podNetwork)));
  }
  const order = new Map(run.scenarios.map((scenario, index) => [scenario.name, index]));
  return results.sort((a, b) => (order.get(a.scenario) ?? 0) - (order.get(b.scenario) ?? 0));
}

async function runInLab(run: CorpusRun, podNetwork: PodNetwork): Promise<ScenarioResult[]> {
  const progress = run.progress ?? silentProgress;
  const { network, signal } = run;
  const { iptables } = run.variant;
  await using lab = await progress.step(`lab with ${podNetwork} pods, ${network} network`, () =>
    startLab({ podNetwork, network, iptables, signal }),
  );
  return await abortable(runEachConfiguration(run, lab), signal);
}

async function runEachConfiguration(run: CorpusRun, lab: Lab): Promise<ScenarioResult[]> {
  const progress = run.progress ?? silentProgress;
  const bySettings = Map.groupBy(run.scenarios, (s) => JSON.stringify(s.setup?.proxy ?? {}));
  const barrier = new Barrier(lab, BARRIER_DEADLINE_MS);
  const { network } = run;
  const place = { lab, proxy: run.variant.name, network, barrier, addresses: new AddressPool() };
  const bench = { ...place, deadlineMs: ANSWER_DEADLINE_MS };
  const results: ScenarioResult[] = [];
  for (const [settings, scenarios] of bySettings) {
    const title = settings === '{}' ? run.variant.name : `${run.variant.name} ${settings}`;
    const proxies = await progress.step(title, async () => {
      const started = await lab.startProxies(run.variant, JSON.parse(settings) as ProxySettings);
      await barrier.pass();
      return started;
    });
    results.push(...(await runSideBySide({ ...run, scenarios }, bench)));
    await stopProxies(proxies);
  }
  return results;
}

async function runSideBySide(run: CorpusRun, bench: Bench): Promise<ScenarioResult[]> {
  const take = async (scenario: Scenario): Promise<ScenarioResult> => {
    run.signal?.throwIfAborted();
    const result = await runScenario(bench, scenario, 1);
    run.onResult?.(result);
    return result;
  };
  const { alone = [], together = [] } = Object.groupBy(run.scenarios, (s) =>
    s.setup?.alone ? 'alone' : 'together',
  );
  const results = await mapConcurrently(together, run.atOnce, take);
  return [...results, ...(await mapConcurrently(alone, 1, take))];
}

export async function stopProxies(proxies: ReadonlyMap<string, Daemon>): Promise<void> {
  await Promise.all([...proxies.values()].map((daemon) => daemon.stop()));
}
