import type { Daemon } from '../../lab/host/processes.ts';
import { type Progress, silentProgress } from '../../lab/host/progress.ts';
import { startLab } from '../../lab/lab.ts';
import type { PodNetwork } from '../../lab/network/topology.ts';
import type { ProxySettings, ProxyVariant } from '../../lab/proxies/contract.ts';
import type { Scenario } from '../scenario.ts';
import { AddressPool } from '../world.ts';
import { Barrier } from './barrier.ts';
import { mapConcurrently } from './concurrently.ts';
import { runScenario, type ScenarioResult } from './run-scenario.ts';

export interface CorpusRun {
  readonly variant: ProxyVariant;
  readonly scenarios: readonly Scenario[];
  readonly atOnce: number;
  readonly progress?: Progress;
  readonly onResult?: (result: ScenarioResult) => void;
}

const ANSWER_DEADLINE_MS = 10_000;
const BARRIER_DEADLINE_MS = 30_000;

/** Runs scenarios on one proxy: a lab for each pod network, a restart for each configuration. */
export async function runCorpus(run: CorpusRun): Promise<ScenarioResult[]> {
  const byNetwork = Map.groupBy(run.scenarios, (s) => s.setup?.podNetwork ?? 'routed');
  const results: ScenarioResult[] = [];
  for (const [podNetwork, scenarios] of byNetwork) {
    results.push(...(await runInLab({ ...run, scenarios }, podNetwork)));
  }
  const order = new Map(run.scenarios.map((scenario, index) => [scenario.name, index]));
  return results.sort((a, b) => (order.get(a.scenario) ?? 0) - (order.get(b.scenario) ?? 0));
}

async function runInLab(run: CorpusRun, podNetwork: PodNetwork): Promise<ScenarioResult[]> {
  const progress = run.progress ?? silentProgress;
  await using lab = await progress.step(`lab with ${podNetwork} pods`, () =>
    startLab({ podNetwork }),
  );
  const bySettings = Map.groupBy(run.scenarios, (s) => JSON.stringify(s.setup?.proxy ?? {}));
  const results: ScenarioResult[] = [];
  const addresses = new AddressPool();
  const barrier = new Barrier(lab, BARRIER_DEADLINE_MS);
  let opened = false;
  for (const [settings, scenarios] of bySettings) {
    const title = `${run.variant.name} ${settings === '{}' ? '' : settings}`;
    const proxies = await progress.step(title, () =>
      lab.startProxies(run.variant, JSON.parse(settings) as ProxySettings),
    );
    if (!opened) await barrier.open();
    opened = true;
    const bench = {
      lab,
      proxy: run.variant.name,
      barrier,
      addresses,
      deadlineMs: ANSWER_DEADLINE_MS,
    };
    const take = async (scenario: Scenario): Promise<void> => {
      const result = await runScenario(bench, scenario, 1);
      run.onResult?.(result);
      results.push(result);
    };
    const { alone = [], together = [] } = Object.groupBy(scenarios, (s) =>
      s.setup?.alone ? 'alone' : 'together',
    );
    await mapConcurrently(together, run.atOnce, take);
    await mapConcurrently(alone, 1, take);
    await stopProxies(proxies);
  }
  return results;
}

export async function stopProxies(proxies: ReadonlyMap<string, Daemon>): Promise<void> {
  await Promise.all([...proxies.values()].map((daemon) => daemon.stop()));
}
