import { type Lab, startLab } from '../../lab/lab.ts';
import { MACHINE } from '../../lab/network/plan.ts';
import { surroundMachine } from '../../lab/outside/hosts.ts';
import { Barrier } from '../runner/barrier.ts';
import { AgentOnMachine } from '../runner/outside-agent.ts';
import { type Bench, runScenario, type ScenarioResult } from '../runner/run-scenario.ts';
import type { Scenario } from '../scenario.ts';
import type { OutsideSabotage } from './sabotage.ts';
import { BARRIER_DEADLINE_MS, type Stage, type Verdict } from './stage.ts';

/** Runs Fairlead on the machine of a lab of its own, with a configuration that is wrong there. */
export class OutsideTheatre implements AsyncDisposable {
  readonly #stage: Stage;
  readonly #lab: Lab;
  readonly #barrier: Barrier;

  private constructor(stage: Stage, lab: Lab) {
    this.#stage = stage;
    this.#lab = lab;
    this.#barrier = new Barrier(lab, BARRIER_DEADLINE_MS, [MACHINE]);
  }

  static async open(stage: Stage): Promise<OutsideTheatre> {
    const { progress, signal } = stage.plan;
    const lab = await progress.step('lab with Fairlead outside', () => startLab({ signal }));
    await surroundMachine(lab);
    return new OutsideTheatre(stage, lab);
  }

  async play(sabotage: OutsideSabotage): Promise<Verdict> {
    const { corpus } = this.#stage.plan;
    const scenario = corpus.find((candidate) => candidate.name === sabotage.outside);
    if (!scenario) return { caught: false, reason: 'the scenario does not exist' };
    const healthy = await this.#run(scenario, {});
    if (healthy.result === 'fail') {
      return { caught: false, reason: `fails without sabotage too: ${healthy.reason}` };
    }
    const { result, reason } = await this.#run(scenario, sabotage);
    if (result === 'fail') return { caught: true, reason };
    return { caught: false, reason: 'the scenario passed' };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#lab[Symbol.asyncDispose]();
  }

  async #run(
    scenario: Scenario,
    { configured = {}, isFrozen }: Pick<OutsideSabotage, 'configured' | 'isFrozen'>,
  ): Promise<ScenarioResult> {
    const { plan, bench, nextSerial } = this.#stage;
    const fairlead = { ...scenario.setup?.outside, ...configured.fairlead };
    const outside = new AgentOnMachine(this.#lab, {
      variant: plan.variant,
      ...configured,
      fairlead,
    });
    const beforeSteps: Bench['beforeSteps'] = async () => outside.freeze();
    await outside.start();
    try {
      await this.#barrier.pass();
      const place = { ...bench, lab: this.#lab, barrier: this.#barrier, outside };
      const own = { ...place, ...(isFrozen ? { beforeSteps } : {}) };
      return await runScenario(own, scenario, nextSerial());
    } finally {
      await outside.stop();
    }
  }
}
