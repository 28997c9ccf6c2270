import { enterNamespace } from '../../lab/host/namespaces.ts';
import type { Daemon } from '../../lab/host/processes.ts';
import { tryRun } from '../../lab/host/run.ts';
import { stopProxies } from '../runner/run-corpus.ts';
import { type Bench, runScenario, type ScenarioResult } from '../runner/run-scenario.ts';
import type { Scenario } from '../scenario.ts';
import { type ActedSabotage, FOREIGN_TABLE } from './sabotage.ts';
import type { Stage, Verdict } from './stage.ts';

/** Acts on the nodes of a proxy that runs as always. */
export class ActedTheatre implements AsyncDisposable {
  readonly #stage: Stage;
  readonly #healthy = new Map<string, ScenarioResult>();
  #proxies: Map<string, Daemon>;

  private constructor(stage: Stage, proxies: Map<string, Daemon>) {
    this.#stage = stage;
    this.#proxies = proxies;
  }

  static async open(stage: Stage): Promise<ActedTheatre> {
    const proxies = await stage.lab.startProxies(stage.plan.variant);
    await stage.barrier.pass();
    return new ActedTheatre(stage, proxies);
  }

  async play(sabotage: ActedSabotage): Promise<Verdict> {
    const { corpus } = this.#stage.plan;
    const scenario = corpus.find((candidate) => candidate.name === sabotage.scenario);
    if (!scenario) return { caught: false, reason: 'the scenario does not exist' };
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
    return { caught: false, reason: 'the scenario passed' };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await stopProxies(this.#proxies);
  }

  #run(scenario: Scenario, beforeSteps?: Bench['beforeSteps']): Promise<ScenarioResult> {
    const bench = { ...this.#stage.bench, ...(beforeSteps ? { beforeSteps } : {}) };
    return runScenario(bench, scenario, this.#stage.nextSerial());
  }

  async #runSabotaged(
    scenario: Scenario,
    sabotage: ActedSabotage,
  ): Promise<{ result: ScenarioResult; plantingError: unknown }> {
    let plantingError: unknown = new Error('the scenario failed before the sabotage');
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
    const { lab, plan, barrier } = this.#stage;
    await stopProxies(this.#proxies);
    for (const node of this.#proxies.keys()) {
      const remove = ['nft', 'delete', 'table', ...FOREIGN_TABLE.split(' ')] as const;
      await tryRun(enterNamespace(lab.namespacePath(node), remove));
    }
    this.#proxies = await lab.startProxies(plan.variant);
    await barrier.pass();
  }
}
