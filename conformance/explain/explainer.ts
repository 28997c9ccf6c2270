import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Dialogue, startDialogue } from '../../lab/host/dialogue.ts';
import { enterNamespace } from '../../lab/host/namespaces.ts';
import { inControlGroup } from '../../lab/host/socket-groups.ts';
import type { Lab } from '../../lab/lab.ts';
import { nodeName } from '../../lab/network/plan.ts';

/** To the suite Fairlead is a program like any other. */
const PROGRAM = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

type AskedLab = Pick<Lab, 'folder' | 'namespacePath' | 'socketGroup'>;

/** Where `fairlead explain` is asked. */
export interface AskedAt {
  readonly node: number;
  /**
   * Whether the client is of this node, so that a socket that stands for it is to be one of the
   * sockets that the node's hooks serve.
   */
  readonly isOfNode: boolean;
}

/** `fairlead explain -` on each node, started with the first question. */
export class Explainer implements Disposable {
  readonly #lab: AskedLab;
  readonly #dialogues = new Map<string, Dialogue>();

  constructor(lab: AskedLab) {
    this.#lab = lab;
  }

  /** `line`: `TARGET CLIENT PROBE`. Gives a line of JSON. */
  async ask(at: AskedAt, line: string): Promise<string> {
    // A group is there only once a proxy with hooks was started.
    const group = at.isOfNode ? this.#lab.socketGroup(at.node) : undefined;
    const key = `${at.node} ${group}`;
    const dialogue = this.#dialogues.get(key) ?? this.#start(at.node, group);
    this.#dialogues.set(key, dialogue);
    return await dialogue.ask(line);
  }

  [Symbol.dispose](): void {
    for (const dialogue of this.#dialogues.values()) dialogue[Symbol.dispose]();
  }

  #start(node: number, group: string | undefined): Dialogue {
    const role = nodeName(node);
    const runFolder = join(this.#lab.folder, 'proxies', role, 'run');
    const argv = [process.execPath, PROGRAM, 'explain', '-', '--run-folder', runFolder] as const;
    const entered = enterNamespace(this.#lab.namespacePath(role), argv);
    return startDialogue(group === undefined ? entered : inControlGroup(group, entered));
  }
}
