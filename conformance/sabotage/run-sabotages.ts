import { abortable } from '../../lab/host/interruption.ts';
import { enterNamespace } from '../../lab/host/namespaces.ts';
import type { Daemon } from '../../lab/host/processes.ts';
import type { Progress } from '../../lab/host/progress.ts';
import { tryRun } from '../../lab/host/run.ts';
import { type Lab, startLab } from '../../lab/lab.ts';
import { DEFAULT_NETWORK } from '../../lab/network/variants/registry.ts';
import type { ProxyVariant } from '../../lab/proxies/contract.ts';
import { Barrier } from '../runner/barrier.ts';
import { stopProxies } from '../runner/run-corpus.ts';
import { type Bench, runScenario, type ScenarioResult } from '../runner/run-scenario.ts';
import type { Scenario } from '../scenario.ts';
import { AddressPool } from '../world.ts';
import { FOREIGN_TABLE, type Sabotage } from './sabotage.ts';

export interface SabotageResult {
  readonly sabotage: string;
  readonly title: string;
  readonly scenario: string;
  readonly caught: boolean;
  /** What the scenario said, or why the sabotage proves nothing. */
  readonly reason: string;
  readonly milliseconds: number;
}

export interface SabotageRun {
  readonly variant: ProxyVariant;
  readonly sabotages: readonly Sabotage[];
  readonly corpus: readonly Scenario[];
  readonly progress: Progress;
  readonly signal: AbortSignal;
  readonly onResult: (result: SabotageResult) => void;
}

/** A sabotaged world stays wrong: no need to wait as long as for a slow but honest proxy. */
const ANSWER_DEADLINE_MS = 2_000;
const BARRIER_DEADLINE_MS = 6_000;

/**
 * Plants each fault in a healthy world and sees whether the scenario notices. Each scenario is
 * first run without a fault: a judge that always fails catches nothing.
 */
export async function runSabotages(plan: SabotageRun): Promise<SabotageResult[]> {
  await using lab = await plan.progress.step('lab', () => startLab({ signal: plan.signal }));
  const theatre = new Theatre(lab, plan);
  await theatre.open();
  const results: SabotageResult[] = [];
  for (const sabotage of plan.sabotages) {
    const result = await abortable(theatre.play(sabotage), plan.signal);
    plan.onResult(result);
    results.push(result);
  }
  return results;
}

class Theatre {
  readonly #lab: Lab;
  readonly #plan: SabotageRun;
  readonly #addresses = new AddressPool();
  readonly #healthy = new Map<string, ScenarioResult>();
  readonly #barrier: Barrier;
  #proxies = new Map<string, Daemon>();
  #serial = 0;

  constructor(lab: Lab, plan: SabotageRun) {
    this.#lab = lab;
    this.#plan = plan;
    this.#barrier = new Barrier(lab, BARRIER_DEADLINE_MS);
  }

  async open(): Promise<void> {
    this.#proxies = await this.#lab.startProxies(this.#plan.variant);
    await this.#barrier.pass();
  }

  async play(sabotage: Sabotage): Promise<SabotageResult> {
    const startedAt = performance.now();
    const head = { sabotage: sabotage.name, title: sabotage.title, scenario: sabotage.scenario };
    const verdict = await this.#verdict(sabotage);
    return { ...head, ...verdict, milliseconds: Math.round(performance.now() - startedAt) };
  }

  async #verdict(sabotage: Sabotage): Promise<{ caught: boolean; reason: string }> {
    const scenario = this.#plan.corpus.find((candidate) => candidate.name === sabotage.scenario);
    if (!scenario) return { caught: false, reason: 'there is no such scenario' };
    const healthy = this.#healthy.get(scenario.name) ?? (await this.#run(scenario));
    this.#healthy.set(scenario.name, healthy);
    if (healthy.result === 'fail') {
      return { caught: false, reason: `fails without sabotage too: ${healthy.reason}` };
    }
    const { result, plantingError } = await this.#runSabotaged(scenario, sabotage);
    await this.#repair();
    // A fault that was never planted is not caught, however badly the scenario ended.
    if (plantingError !== undefined) {
      return { caught: false, reason: `could not be planted: ${plantingError}` };
    }
    if (result.result === 'fail') return { caught: true, reason: result.reason };
    return { caught: false, reason: 'the scenario noticed nothing' };
  }

  #run(scenario: Scenario, beforeSteps?: Bench['beforeSteps']): Promise<ScenarioResult> {
    const bench = {
      lab: this.#lab,
      proxy: this.#plan.variant.name,
      network: DEFAULT_NETWORK,
      barrier: this.#barrier,
      addresses: this.#addresses,
      deadlineMs: ANSWER_DEADLINE_MS,
      ...(beforeSteps ? { beforeSteps } : {}),
    };
    return runScenario(bench, scenario, ++this.#serial);
  }

  async #runSabotaged(
    scenario: Scenario,
    sabotage: Sabotage,
  ): Promise<{ result: ScenarioResult; plantingError: unknown }> {
    let plantingError: unknown = new Error('the scenario did not come so far');
    const result = await this.#run(scenario, async (world) => {
      try {
        await sabotage.act({ world, proxies: this.#proxies });
        plantingError = undefined;
      } catch (error) {
        plantingError = error;
        throw error;
      }
    });
    return { result, plantingError };
  }

  /** A new process writes everything anew, which undoes what was done to its rules. */
  async #repair(): Promise<void> {
    await stopProxies(this.#proxies);
    for (const node of this.#proxies.keys()) {
      const remove = ['nft', 'delete', 'table', ...FOREIGN_TABLE.split(' ')] as const;
      await tryRun(enterNamespace(this.#lab.namespacePath(node), remove));
    }
    this.#proxies = await this.#lab.startProxies(this.#plan.variant);
    await this.#barrier.pass();
  }
}
