import type { RowState } from '../../agent/row-state.ts';
import { readStatus } from '../../agent/servers/status-client.ts';
import type { StatusPage } from '../../agent/status-page.ts';
import type { AgentWord } from '../../explain/explanation.ts';
import { agentError } from '../basis/ask-agent.ts';
import type { Basis } from '../basis/basis.ts';
import { detachedNames, disturberOf, troublesOf } from '../status/trouble.ts';

/** Asks the agent whether the kernel has what it wants; null: there is no agent to ask. */
export async function askAgentWord(
  basis: Basis,
  row: RowState | undefined,
): Promise<AgentWord | null> {
  if (basis.by !== 'agent') return null;
  try {
    const page = (await readStatus({ socketPath: basis.socketPath })) as StatusPage;
    const disturber = disturberOf(page);
    return {
      pid: basis.agent.pid,
      ...(row === undefined ? {} : { row }),
      detached: detachedNames(page),
      ...(disturber === undefined ? {} : { disturber }),
      troubles: troublesOf(page),
    };
  } catch (error) {
    throw agentError(error);
  }
}
