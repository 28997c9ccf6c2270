import { abortable } from '../../lab/host/interruption.ts';
import type { Daemon } from '../../lab/host/processes.ts';
import { type Progress, silentProgress } from '../../lab/host/progress.ts';
import { type Lab, startLab } from '../../lab/lab.ts';
import { MACHINE } from '../../lab/network/plan.ts';
import type { PodNetwork } from '../../lab/network/topology.ts';
import { surroundMachine } from '../../lab/outside/hosts.ts';
import type { ApiVersion } from '../../lab/parts/api-version.ts';
import type { ProxyVariant } from '../../lab/proxies/contract.ts';
import { Explainer } from '../explain/explainer.ts';
import { measurePromptness, type Promptness } from '../promptness/promptness.ts';
import type { Scenario, Setup } from '../scenario.ts';
import { AddressPool, type OutsideAgent } from '../world.ts';
import { Barrier } from './barrier.ts';
import { mapConcurrently } from './concurrently.ts';
import { runDisturbedAgain } from './disturbed.ts';
import { AgentOnMachine } from './outside-agent.ts';
import { type Bench, runScenario, type ScenarioResult } from './run-scenario.ts';

export interface CorpusRun {
  readonly variant: ProxyVariant;
  /** The network of the labs; scenarios about another are not for this run. */
  readonly network: string;
  readonly scenarios: readonly Scenario[];
  readonly atOnce: number;
  /** `fairlead explain` is asked too, and must agree with the packets; half of it before them. */
  readonly explains?: { readonly seed: number } | undefined;
  /** What the control plane behaves as; the newest when not given. */
  readonly apiVersion?: ApiVersion | undefined;
  readonly progress?: Progress;
  readonly signal?: AbortSignal | undefined;
  readonly onResult?: (result: ScenarioResult) => void;
}

const BARRIER_DEADLINE_MS = 30_000;

export interface CorpusResult {
  readonly scenarios: readonly ScenarioResult[];
  /** Measured once, in the first lab, before anything else is asked of the proxy. */
  readonly promptness: Promptness;
}

/**
 * Runs scenarios on one proxy: a lab for each pod network and one for the machine outside, a restart
 * for each configuration.
 */
export async function runCorpus(run: CorpusRun): Promise<CorpusResult> {
  const tally: Tally = { results: [], promptness: undefined };
  await runInLabs(run, tally);
  const { promptness } = tally;
  if (promptness === undefined)
    throw new TypeError('no scenario was run, so no barrier was measured');
  const results = await runDisturbedAgain(tally.results, async (names) => {
    // Other labs: the first ones have what a scenario left, such as the ports of its host.
    const again: Tally = { results: [], promptness };
    const scenarios = run.scenarios.filter(({ name }) => names.has(name));
    await runInLabs({ ...run, scenarios, atOnce: 1 }, again);
    return again.results;
  });
  const order = new Map(run.scenarios.map((scenario, index) => [scenario.name, index]));
  results.sort((a, b) => (order.get(a.scenario) ?? 0) - (order.get(b.scenario) ?? 0));
  return { scenarios: results, promptness };
}

async function runInLabs(run: CorpusRun, tally: Tally): Promise<void> {
  const byLab = Map.groupBy(run.scenarios, ({ setup }) =>
    setup?.outside ? OUTSIDE : (setup?.podNetwork ?? 'routed'),
  );
  for (const [kind, scenarios] of byLab) await runInLab({ ...run, scenarios }, kind, tally);
}

const OUTSIDE = 'outside';
type LabKind = PodNetwork | typeof OUTSIDE;

interface Tally {
  readonly results: ScenarioResult[];
  promptness: Promptness | undefined;
}

async function runInLab(run: CorpusRun, kind: LabKind, tally: Tally): Promise<void> {
  const progress = run.progress ?? silentProgress;
  const { network, apiVersion, signal } = run;
  const { iptables } = run.variant;
  const podNetwork = kind === OUTSIDE ? 'routed' : kind;
  const title = kind === OUTSIDE ? 'lab with Fairlead outside' : `lab with ${podNetwork} pods`;
  await using lab = await progress.step(`${title}, ${network} network`, () =>
    startLab({ podNetwork, network, iptables, apiVersion, signal }),
  );
  if (kind === OUTSIDE) await surroundMachine(lab);
  const hosts = kind === OUTSIDE ? [MACHINE] : undefined;
  const barrier = new Barrier(lab, BARRIER_DEADLINE_MS, hosts);
  await abortable(runEachConfiguration(run, { lab, barrier }, tally), signal);
}

async function runEachConfiguration(
  run: CorpusRun,
  { lab, barrier }: Pick<Bench, 'lab' | 'barrier'>,
  tally: Tally,
): Promise<void> {
  const progress = run.progress ?? silentProgress;
  const signal = run.signal ?? new AbortController().signal;
  const bySettings = Map.groupBy(run.scenarios, ({ setup }) =>
    JSON.stringify({ ...setup?.proxy, ...(setup?.outside && { outside: setup.outside }) }),
  );
  const { network } = run;
  const place = { lab, proxy: run.variant.name, network, barrier, addresses: new AddressPool() };
  const { lateness } = run.variant;
  using explainer = new Explainer(lab);
  const asked = run.explains ? { explaining: { explainer, ...run.explains } } : {};
  const bench = { ...place, ...asked, latenessMs: lateness?.withinMs ?? 0 };
  for (const [settings, scenarios] of bySettings) {
    const title = settings === '{}' ? run.variant.name : `${run.variant.name} ${settings}`;
    const proxies = await progress.step(title, async () => {
      const started = await startConfigured(run, lab, scenarios[0]?.setup ?? {});
      await barrier.pass();
      return started;
    });
    tally.promptness ??= await progress.step('rounds of the barrier, by the clock', () =>
      measurePromptness({ proxy: run.variant.name, lateness, barrier, signal }),
    );
    const { outside } = proxies;
    const sideBySide = { ...run, scenarios, serial: 1 };
    const results = await runSideBySide(sideBySide, { ...bench, ...(outside && { outside }) });
    tally.results.push(...results);
    await proxies.stop();
  }
}

/** On every node, or on the machine alone. */
async function startConfigured(
  { variant }: CorpusRun,
  lab: Lab,
  { proxy: settings = {}, outside: fairlead }: Setup,
): Promise<{ outside?: OutsideAgent; stop(): Promise<void> }> {
  if (fairlead === undefined) {
    const proxies = await lab.startProxies(variant, settings);
    return { stop: () => stopProxies(proxies) };
  }
  const outside = new AgentOnMachine(lab, { variant, settings, fairlead });
  await outside.start();
  return { outside, stop: () => outside.stop() };
}

/** A serial keeps the namespaces of two runs of a scenario in the same lab apart. */
export interface SideBySide
  extends Pick<CorpusRun, 'scenarios' | 'atOnce' | 'signal' | 'onResult'> {
  readonly serial: number;
}

export async function runSideBySide(run: SideBySide, bench: Bench): Promise<ScenarioResult[]> {
  const take = async (scenario: Scenario): Promise<ScenarioResult> => {
    run.signal?.throwIfAborted();
    const result = await runScenario(bench, scenario, run.serial);
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
