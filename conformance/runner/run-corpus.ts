import { abortable } from '../../lab/host/interruption.ts';
import type { Daemon } from '../../lab/host/processes.ts';
import { type Progress, silentProgress } from '../../lab/host/progress.ts';
import { type Lab, startLab } from '../../lab/lab.ts';
import type { PodNetwork } from '../../lab/network/topology.ts';
import { DEFAULT_NETWORK } from '../../lab/network/variants/registry.ts';
import type { ProxySettings, ProxyVariant } from '../../lab/proxies/contract.ts';
import type { Scenario } from '../scenario.ts';
import { AddressPool } from '../world.ts';
import { Barrier } from './barrier.ts';
import { mapConcurrently } from './concurrently.ts';
import { type Bench, runScenario, type ScenarioResult } from './run-scenario.ts';

export interface CorpusRun {
  readonly variant: ProxyVariant;
  /** The network of every scenario that names none. */
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
  const byLab = Map.groupBy(run.scenarios, ({ setup }) => {
    const { podNetwork = 'routed', network = run.network } = setup ?? {};
    return JSON.stringify({ podNetwork, network } satisfies LabNetwork);
  });
  const results: ScenarioResult[] = [];
  for (const [key, scenarios] of byLab) {
    results.push(...(await runInLab({ ...run, scenarios }, JSON.parse(key) as LabNetwork)));
  }
  const order = new Map(run.scenarios.map((scenario, index) => [scenario.name, index]));
  return results.sort((a, b) => (order.get(a.scenario) ?? 0) - (order.get(b.scenario) ?? 0));
}

interface LabNetwork {
  readonly podNetwork: PodNetwork;
  readonly network: string;
}

async function runInLab(run: CorpusRun, of: LabNetwork): Promise<ScenarioResult[]> {
  const progress = run.progress ?? silentProgress;
  const { iptables } = run.variant;
  await using lab = await progress.step(`lab with ${of.podNetwork} pods, ${of.network}`, () =>
    startLab({ ...of, iptables, signal: run.signal }),
  );
  return await abortable(runEachConfiguration(run, lab, of.network), run.signal);
}

/** What the results of a proxy are filed under. */
export function labelOf(proxy: string, network: string): string {
  return network === DEFAULT_NETWORK ? proxy : `${proxy}@${network}`;
}

async function runEachConfiguration(
  run: CorpusRun,
  lab: Lab,
  network: string,
): Promise<ScenarioResult[]> {
  const progress = run.progress ?? silentProgress;
  const bySettings = Map.groupBy(run.scenarios, (s) => JSON.stringify(s.setup?.proxy ?? {}));
  const barrier = new Barrier(lab, BARRIER_DEADLINE_MS);
  const place = { lab, proxy: run.variant.name, network, barrier, addresses: new AddressPool() };
  const label = labelOf(run.variant.name, run.network);
  const bench = { ...place, label, deadlineMs: ANSWER_DEADLINE_MS };
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
