import { join } from 'node:path';
import { History } from '../../../agent/history/history.ts';
import { historyPage } from '../../../agent/history/history-page.ts';
import type { RowState } from '../../../agent/row-state.ts';
import type { AgentNode } from '../../../agent/servers/agent-node.ts';
import { RowPages } from '../../../agent/servers/row-pages.ts';
import { runStatusSocket } from '../../../agent/servers/status-socket.ts';
import { snapshotWith } from '../../../agent/servers/testing/example-conditions.ts';
import type { StatusPage } from '../../../agent/status-page.ts';
import { loadConfig } from '../../../config/load-config.ts';
import { STATUS_SOCKET } from '../../../config/run-folder.ts';
import { systemClock } from '../../../time/clock.ts';
import { observeNode } from '../../desired.ts';
import { agentNode } from '../../run/describe-agent-node.ts';

const ABSENT = { exists: false, endpoints: 0, ready: 0 };

export interface ServedAgentOptions {
  /** Where its socket is to be. */
  readonly runFolder: string;
  readonly configPath: string;
  readonly manifests: readonly string[];
  readonly nodeName: string;
  /** Overrides of its answers. */
  readonly says?: Partial<AgentNode>;
  readonly status?: Partial<StatusPage>;
  /** What it says of each row; default: the kernel has it. */
  readonly rowState?: RowState;
}

/** The socket of an agent that has read these files, without its hands on the kernel. */
export async function serveAgent(options: ServedAgentOptions): Promise<AsyncDisposable> {
  const { runFolder, configPath, manifests, nodeName } = options;
  const config = await loadConfig(new Map([['config', [configPath]]]));
  const { intake, stop } = await observeNode({
    settings: config.settings,
    nodeName,
    from: { filename: manifests },
    machine: undefined,
  });
  const { table, facts } = intake;
  const agent = { table, facts, missing: () => [] };
  const pages = new RowPages(
    () => table,
    () => options.rowState ?? { is: 'applied' },
  );
  const clock = systemClock;
  const history = new History({ mode: config.settings.mode, version: '', clock });
  const lifetime = new AbortController();
  const opened = Promise.withResolvers<void>();
  const serving = runStatusSocket(
    {
      path: join(runFolder, STATUS_SOCKET),
      snapshot: () => snapshotWith(options.status),
      counters: async () => [],
      node: () => ({
        ...agentNode({ agent, nodeName, currentConfig: () => config, manifests }),
        ...options.says,
      }),
      rows: (request) => pages.page(request),
      history: (request) => historyPage(request, { history, clock, serviceNow: () => ABSENT }),
      onProblem: opened.reject,
      onOpen: () => opened.resolve(),
    },
    lifetime.signal,
  );
  await opened.promise;
  return {
    [Symbol.asyncDispose]: async () => {
      lifetime.abort();
      await Promise.all([serving, stop()]);
    },
  };
}
