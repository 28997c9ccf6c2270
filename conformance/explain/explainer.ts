import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Dialogue, startDialogue } from '../../lab/host/dialogue.ts';
import { enterNamespace } from '../../lab/host/namespaces.ts';
import type { Lab } from '../../lab/lab.ts';
import { nodeName } from '../../lab/network/plan.ts';

/** To the suite Fairlead is a program like any other. */
const PROGRAM = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/** `fairlead explain -` on each node, started with the first question. */
export class Explainer implements Disposable {
  readonly #lab: Pick<Lab, 'folder' | 'namespacePath'>;
  readonly #dialogues = new Map<number, Dialogue>();

  constructor(lab: Pick<Lab, 'folder' | 'namespacePath'>) {
    this.#lab = lab;
  }

  /** `line`: `TARGET CLIENT`. Gives a line of JSON. */
  async ask(node: number, line: string): Promise<string> {
    const dialogue = this.#dialogues.get(node) ?? this.#start(node);
    return await dialogue.ask(line);
  }

  [Symbol.dispose](): void {
    for (const dialogue of this.#dialogues.values()) dialogue[Symbol.dispose]();
  }

  #start(node: number): Dialogue {
    const role = nodeName(node);
    const runFolder = join(this.#lab.folder, 'proxies', role, 'run');
    const argv = [process.execPath, PROGRAM, 'explain', '-', '--run-folder', runFolder] as const;
    const dialogue = startDialogue(enterNamespace(this.#lab.namespacePath(role), argv));
    this.#dialogues.set(node, dialogue);
    return dialogue;
  }
}
