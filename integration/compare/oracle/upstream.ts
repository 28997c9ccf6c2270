import { startDialogue } from '../../../lab/host/dialogue.ts';
import type { Answer, PortAnswer } from './answer.ts';
import type { ClusterState } from './states.ts';
import { verdictsOf } from './verdicts.ts';

/** Upstream's answers, one process for all questions. */
export interface Upstream extends Disposable {
  ask(state: ClusterState): Promise<Answer>;
}

export function startUpstream(program: string): Upstream {
  const dialogue = startDialogue([program]);
  return {
    async ask(state) {
      const told = JSON.parse(await dialogue.ask(JSON.stringify(state))) as ToldAnswer;
      const ports = told.ports.map((port) => ({ ...port, verdicts: verdictsOf(port, state) }));
      return { ...told, ports };
    },
    [Symbol.dispose]: () => dialogue[Symbol.dispose](),
  };
}

/** Upstream's code chooses endpoints; what its rules make of them is added here. */
interface ToldAnswer extends Omit<Answer, 'ports'> {
  readonly ports: readonly Omit<PortAnswer, 'verdicts'>[];
}
