import { fileURLToPath } from 'node:url';
import { type Dialogue, startDialogue } from '../../../lab/host/dialogue.ts';
import { enterNamespace } from '../../../lab/host/namespaces.ts';
import type { LoadPlan, LoadTally } from './load-questions.ts';

const PROGRAM = fileURLToPath(new URL('../main.ts', import.meta.url));

/** The load, in processes of their own: what else this one does must not delay a connection. */
export class Load implements Disposable {
  readonly #dialogues: readonly Dialogue[];

  constructor(plans: readonly LoadPlan[]) {
    this.#dialogues = plans.map((plan) => {
      const argv = [process.execPath, PROGRAM, 'takeover', 'load', JSON.stringify(plan)] as const;
      return startDialogue(enterNamespace(plan.way.namespace, [...argv]));
    });
  }

  /** What became of all connections that were begun since the last tally, way by way. */
  async tallies(): Promise<LoadTally[]> {
    const lines = await Promise.all(this.#dialogues.map((dialogue) => dialogue.ask('tally')));
    return lines.map((line) => JSON.parse(line) as LoadTally);
  }

  [Symbol.dispose](): void {
    for (const dialogue of this.#dialogues) dialogue[Symbol.dispose]();
  }
}
