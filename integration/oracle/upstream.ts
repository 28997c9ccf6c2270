import { startDialogue } from '../../lab/host/dialogue.ts';
import type { Answer } from './answer.ts';
import type { ClusterState } from './states.ts';

/** Upstream's answers, one process for all questions. */
export interface Upstream extends Disposable {
  ask(state: ClusterState): Promise<Answer>;
}

export function startUpstream(program: string): Upstream {
  const dialogue = startDialogue([program]);
  return {
    ask: async (state) => JSON.parse(await dialogue.ask(JSON.stringify(state))) as Answer,
    [Symbol.dispose]: () => dialogue[Symbol.dispose](),
  };
}
