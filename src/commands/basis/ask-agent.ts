import { join } from 'node:path';
import type { AgentNode } from '../../agent/servers/agent-node.ts';
import { ServerError, systemCodeOf } from '../../agent/servers/server-error.ts';
import { readNode } from '../../agent/servers/status-client.ts';
import { STATUS_SOCKET } from '../../config/run-folder.ts';
import { CommandError } from '../command-error.ts';

export type AskedAgent =
  | { readonly state: 'answers'; readonly node: AgentNode; readonly socketPath: string }
  /** No agent. */
  | { readonly state: 'absent' }
  /** The socket exists, but this user may not use it. */
  | { readonly state: 'forbidden' };

const NOBODY_LISTENS = new Set(['ENOENT', 'ECONNREFUSED', 'ENOTDIR']);
const FORBIDDEN = new Set(['EACCES', 'EPERM']);

/** Reads which node the agent of this machine serves, and its configuration. */
export async function askAgent(runFolder: string): Promise<AskedAgent> {
  const socketPath = join(runFolder, STATUS_SOCKET);
  try {
    return { state: 'answers', node: await readNode({ socketPath }), socketPath };
  } catch (error) {
    const code = error instanceof ServerError ? systemCodeOf(error.cause) : undefined;
    if (code !== undefined && NOBODY_LISTENS.has(code)) return { state: 'absent' };
    if (code !== undefined && FORBIDDEN.has(code)) return { state: 'forbidden' };
    throw agentError(error);
  }
}

/** The agent exists but does not respond: an answer without it could be wrong. */
export function agentError(cause: unknown): unknown {
  if (!(cause instanceof ServerError)) return cause;
  return new CommandError(`cannot ask the agent of this machine: ${cause.message}`, {
    code: cause.code,
    next: `${cause.next}; or pass --config FILE to do without the agent`,
    cause,
  });
}
