import { fileURLToPath } from 'node:url';
import { type Dialogue, startDialogue } from '../../../../lab/host/dialogue.ts';
import { enterNamespace } from '../../../../lab/host/namespaces.ts';
import { until } from '../../../../lab/host/until.ts';
import type { Questions } from './questions.ts';

const PROGRAM = fileURLToPath(new URL('../../main.ts', import.meta.url));
const LOOK_EVERY_MS = 10;

type Reply<Q extends keyof Questions> = { answer: Questions[Q]['answer'] } | { error: string };

/** A process in the network namespace of a node that answers questions about its kernel. */
export class NodeInside implements Disposable {
  readonly #dialogue: Dialogue;

  constructor(of: { namespacePath: string; configPath: string; runFolder: string }) {
    const { configPath, runFolder } = of;
    const argv = [process.execPath, PROGRAM, 'faults', 'inside', configPath, runFolder] as const;
    this.#dialogue = startDialogue(enterNamespace(of.namespacePath, [...argv]));
  }

  async ask<Q extends keyof Questions>(
    question: Q,
    asked: Questions[Q]['asked'],
  ): Promise<Questions[Q]['answer']> {
    const line = await this.#dialogue.ask(JSON.stringify({ question, ...asked }));
    const reply = JSON.parse(line) as Reply<Q>;
    if ('error' in reply) throw new Error(`${question}: ${reply.error}`);
    return reply.answer;
  }

  /** Resolves with the time it took until the kernel was what is wanted. */
  async becomesRight(question: 'diff' | 'diffAgain', deadlineMs: number): Promise<number> {
    const from = performance.now();
    let last: readonly string[] = [];
    const isRight = async (): Promise<boolean> => {
      last = await this.ask(question, {});
      return last.length === 0;
    };
    const what = 'the kernel to be right';
    try {
      await until(isRight, { what, deadlineMs, everyMs: LOOK_EVERY_MS });
    } catch (error) {
      const named = last.slice(0, 3).join(', ');
      throw new Error(`${last.length} differences remain, for example ${named}`, { cause: error });
    }
    return performance.now() - from;
  }

  [Symbol.dispose](): void {
    this.#dialogue[Symbol.dispose]();
  }
}
