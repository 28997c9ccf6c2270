import type { Daemon } from '../../lab/host/processes.ts';
import type { Lab } from '../../lab/lab.ts';
import { cleanUpOutside, type OutsideStart, startOutside } from '../../lab/outside/start.ts';
import type { Change } from '../scenario.ts';
import type { OutsideAgent, World } from '../world.ts';

/** Fairlead on the machine beside the cluster, without a Node object. */
export class AgentOnMachine implements OutsideAgent {
  readonly #lab: Lab;
  readonly #start: OutsideStart;
  #daemon: Daemon | undefined;

  constructor(lab: Lab, start: OutsideStart) {
    this.#lab = lab;
    this.#start = start;
  }

  get isRunning(): boolean {
    return this.#daemon !== undefined;
  }

  async start(): Promise<void> {
    this.#daemon ??= await startOutside(this.#lab, this.#start);
  }

  async stop(): Promise<void> {
    const daemon = this.#daemon;
    this.#daemon = undefined;
    await daemon?.stop();
  }

  async cleanUp(): Promise<void> {
    await cleanUpOutside(this.#lab);
  }

  /** Stops it without its noticing: it follows no change from now on. */
  freeze(): void {
    this.#daemon?.freeze();
  }
}

type AgentChange = Extract<Change, { agent: string }>['agent'];

export async function changeAgent({ outside }: World, change: AgentChange): Promise<void> {
  if (outside === undefined) throw new TypeError('the scenario does not run outside of a cluster');
  if (change === 'stop') await outside.stop();
  if (change === 'start') await outside.start();
  if (change === 'clean up') await outside.cleanUp();
}
