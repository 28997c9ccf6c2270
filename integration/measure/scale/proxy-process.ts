import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { assertRunning, type Daemon, startDaemon } from '../../../lab/host/processes.ts';
import { until } from '../../../lab/host/until.ts';
import type { Lab } from '../../../lab/lab.ts';
import type { ProxyVariant } from '../../../lab/proxies/contract.ts';
import { ServerError } from '../../../src/agent/servers/server-error.ts';
import { readStatus } from '../../../src/agent/servers/status-client.ts';
import type { AgentSnapshot } from '../../../src/agent/snapshot.ts';

const READY_DEADLINE_MS = 120_000;
const LOOK_EVERY_MS = 20;

/** A proxy that was just started on a node, without waiting for it. */
export interface ProxyProcess {
  readonly daemon: Daemon;
  /** On the monotonic clock. */
  readonly startedAtMs: number;
  readonly statusSocket: string;
}

export async function startOn(
  lab: Lab,
  node: string,
  variant: ProxyVariant,
): Promise<ProxyProcess> {
  const folder = join(lab.folder, 'proxies', node);
  await mkdir(folder, { recursive: true });
  const { argv, env } = await variant.prepare({
    nodeName: node,
    credentials: lab.credentials,
    folder,
    settings: {},
  });
  const startedAtMs = performance.now();
  const daemon = startDaemon({
    name: `${variant.name} on ${node}`,
    namespacePath: lab.namespacePath(node),
    argv,
    env,
    logFile: join(lab.folder, 'logs', `${node}-${variant.name}.log`),
  });
  return { daemon, startedAtMs, statusSocket: join(folder, 'run', 'status.sock') };
}

/** When Fairlead says that the kernel has everything; how long that took since its start. */
export async function untilSynced(
  proxy: ProxyProcess,
  signal: AbortSignal,
): Promise<{ afterMs: number; snapshot: AgentSnapshot }> {
  const snapshot = await until(
    async () => {
      await assertRunning(proxy.daemon);
      const found = await snapshotOf(proxy).catch(unlessNotThereYet);
      return found?.conditions.firstSync.isTrue ? found : undefined;
    },
    {
      what: `${proxy.daemon.name} to have written everything`,
      deadlineMs: READY_DEADLINE_MS,
      everyMs: LOOK_EVERY_MS,
      signal,
    },
  );
  return { afterMs: performance.now() - proxy.startedAtMs, snapshot };
}

export async function snapshotOf({ statusSocket }: ProxyProcess): Promise<AgentSnapshot> {
  return (await readStatus({ socketPath: statusSocket })) as AgentSnapshot;
}

/** Before it listens there is no answer, and while it reads 50,000 Services it may be late. */
function unlessNotThereYet(error: unknown): undefined {
  if (error instanceof ServerError) return undefined;
  throw error;
}
