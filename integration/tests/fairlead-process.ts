import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assertRunning, type Daemon, startDaemon } from '../../lab/host/processes.ts';
import { until } from '../../lab/host/until.ts';
import { ServerError } from '../../src/agent/servers/server-error.ts';
import { readStatus } from '../../src/agent/servers/status-client.ts';
import type { AgentSnapshot } from '../../src/agent/snapshot.ts';
import { STATUS_SOCKET } from '../../src/config/run-folder.ts';

const PROGRAM = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const DEADLINE_MS = 60_000;

/** `fairlead run` in the network namespace of this process. Its log and sockets are in `folder`. */
export function startFairlead(of: {
  readonly mode: string;
  readonly objects: string;
  readonly folder: string;
  readonly flags: readonly string[];
}): Daemon {
  const flags = ['run', '-f', of.objects, '--run-folder', join(of.folder, 'run'), ...of.flags];
  return startDaemon({
    name: `fairlead in ${of.mode} mode`,
    namespacePath: `/proc/${process.pid}/ns/net`,
    argv: [process.execPath, PROGRAM, ...flags],
    logFile: join(of.folder, 'log'),
  });
}

/** Waits until the kernel has everything. */
export async function untilSynced(proxy: Daemon, folder: string): Promise<void> {
  const socketPath = join(folder, 'run', STATUS_SOCKET);
  const isReady = async (): Promise<boolean> => {
    await assertRunning(proxy);
    try {
      const { conditions } = (await readStatus({ socketPath })) as AgentSnapshot;
      return conditions.firstSync.isTrue;
    } catch (error) {
      if (error instanceof ServerError) return false;
      throw error;
    }
  };
  await until(isReady, { what: 'the proxy to be ready', deadlineMs: DEADLINE_MS });
}
