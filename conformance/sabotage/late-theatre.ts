import type { Daemon } from '../../lab/host/processes.ts';
import { measurePromptness, type Promptness } from '../promptness/promptness.ts';
import { runSideBySide, stopProxies } from '../runner/run-corpus.ts';
import type { Bench, ScenarioResult } from '../runner/run-scenario.ts';
import type { Scenario } from '../scenario.ts';
import { lateVerdict } from './late-verdict.ts';
import { BLIND_TO_LATENESS } from './lateness.ts';
import { LateFairlead } from './planted-lateness.ts';
import type { LateSabotage } from './sabotage.ts';
import type { Stage, Verdict } from './stage.ts';

/** Runs a build of Fairlead that is late on request. */
export class LateTheatre implements AsyncDisposable {
  readonly #stage: Stage;
  readonly #late: LateFairlead;
  #proxies = new Map<string, Daemon>();

  private constructor(stage: Stage, late: LateFairlead) {
    this.#stage = stage;
    this.#late = late;
  }

  static async open(stage: Stage): Promise<LateTheatre> {
    const { lab, plan } = stage;
    const { variant, signal, progress } = plan;
    const late = await progress.step('a build of Fairlead that can be late', () =>
      LateFairlead.build({ variant, labFolder: lab.folder, signal }),
    );
    const theatre = new LateTheatre(stage, late);
    await theatre.#start();
    return theatre;
  }

  async play(sabotage: LateSabotage): Promise<Verdict> {
    const verdict = await this.#verdict(sabotage);
    await this.#late.beInTime();
    // What is still held back would overtake what comes next.
    await stopProxies(this.#proxies);
    await this.#start();
    return verdict;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await stopProxies(this.#proxies);
  }

  async #start(): Promise<void> {
    this.#proxies = await this.#stage.lab.startProxies(this.#late.variant);
    await this.#stage.barrier.pass();
  }

  async #verdict(sabotage: LateSabotage): Promise<Verdict> {
    if (sabotage.noticedBy === 'promptness') return await this.#byTheClock(sabotage);
    const scenarios = this.#noticers(sabotage);
    const healthy = await this.#runAll(scenarios);
    const late = await this.#runAll(scenarios, this.#lateFromNowOn(sabotage));
    return lateVerdict({ healthy, late, blind: BLIND_TO_LATENESS });
  }

  #noticers({ noticedBy }: LateSabotage): Scenario[] {
    const { corpus } = this.#stage.plan;
    if (typeof noticedBy === 'object') {
      return corpus.filter(({ name }) => name === noticedBy.scenario);
    }
    return corpus.filter(
      ({ setup, steps }) => !setup?.outside && steps.some((step) => 'change' in step),
    );
  }

  #runAll(scenarios: readonly Scenario[], more: Partial<Bench> = {}): Promise<ScenarioResult[]> {
    const { plan, bench, nextSerial } = this.#stage;
    const run = { scenarios, atOnce: plan.atOnce, signal: plan.signal, serial: nextSerial() };
    return runSideBySide(run, { ...bench, ...more });
  }

  /** A scenario is built in time: it is its changes that come late. */
  #lateFromNowOn({ delayMs, service }: LateSabotage): Pick<Bench, 'beforeSteps'> {
    const services: string[] = [];
    let written = Promise.resolve();
    return {
      beforeSteps: async ({ namespace }) => {
        services.push(service.replace('NAMESPACE', namespace));
        written = written.then(() => this.#late.be({ delayMs, services }));
        await written;
      },
    };
  }

  async #byTheClock({ delayMs, service }: LateSabotage): Promise<Verdict> {
    const inTime = await this.#measure();
    if (inTime.verdict !== 'prompt') {
      return { caught: false, reason: `${inTime.verdict} without sabotage too: ${inTime.reason}` };
    }
    await this.#late.be({ delayMs, services: [service] });
    const { verdict, reason } = await this.#measure();
    return { caught: verdict === 'late', reason };
  }

  #measure(): Promise<Promptness> {
    const { barrier, plan } = this.#stage;
    const { variant, signal } = plan;
    return measurePromptness({ proxy: variant.name, lateness: undefined, barrier, signal });
  }
}
