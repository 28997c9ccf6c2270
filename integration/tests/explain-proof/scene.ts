import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { assertRunning, type Daemon, startDaemon } from '../../../lab/host/processes.ts';
import { until } from '../../../lab/host/until.ts';
import { ServerError } from '../../../src/agent/servers/server-error.ts';
import { readStatus } from '../../../src/agent/servers/status-client.ts';
import type { AgentSnapshot } from '../../../src/agent/snapshot.ts';
import { runCommand } from '../../../src/commands/basis/testing/run-command.ts';
import { explainCommand } from '../../../src/commands/explain.ts';
import { STATUS_SOCKET } from '../../../src/commands/run/folder.ts';
import type { Explanation } from '../../../src/explain/explanation.ts';
import { enterOwnNetwork, ip } from '../../../src/linux/netlink/testing/own-namespace.ts';
import { startHost } from '../../../src/linux/testing/hosts/host.ts';
import {
  joinOutside,
  joinPod,
  type PlacedHost,
} from '../../../src/linux/testing/hosts/placed-host.ts';
import { CLUSTER_CIDRS, NODE, shopObjects } from './shop.ts';

const PROGRAM = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
const DEADLINE_MS = 60_000;

/** A node with an agent, two pods, a pod of another node, and a client outside. */
export interface Scene {
  readonly client: PlacedHost;
  readonly near: PlacedHost;
  readonly far: PlacedHost;
  readonly outside: PlacedHost;
  readonly runFolder: string;
  /** Runs `fairlead explain` on the node. */
  explain(t: TestContext, ...args: readonly string[]): Promise<Explained>;
  /** The same, for people. */
  explainText(t: TestContext, ...args: readonly string[]): Promise<string>;
  stop(): Promise<void>;
}

export interface Explained {
  readonly code: number;
  readonly explanation: Explanation;
}

/** In a network namespace of its own. */
export async function startScene(mode: string): Promise<Scene> {
  enterOwnNetwork();
  for (const path of ['ipv4/ip_forward', 'ipv6/conf/all/forwarding']) {
    writeFileSync(`/proc/sys/net/${path}`, '1');
  }
  const client = joinPod(await startHost('client'), 1);
  const near = joinPod(await startHost('near'), 2);
  const far = joinPod(await startHost('far'), 3);
  const outside = joinOutside(await startHost('outside'));
  // Without a route a packet to a Service address does not come to the rules that reject it.
  ip(`route add default via ${outside.ipv4}`, `route add ::/0 via ${outside.ipv6}`);
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-explain-'));
  const objects = join(folder, 'shop.json');
  writeFileSync(objects, JSON.stringify(shopObjects({ client, near, far })));
  const runFolder = join(folder, 'run');
  const proxy = startProxy({ mode, folder, objects, runFolder });
  await untilSynced(proxy, join(runFolder, STATUS_SOCKET));
  return {
    client,
    near,
    far,
    outside,
    runFolder,
    explainText: async (t, ...args) => {
      const all = [...args, '--run-folder', runFolder];
      return (await runCommand(t, explainCommand(), all)).out;
    },
    explain: async (t, ...args) => {
      const all = [...args, '--run-folder', runFolder, '-o', 'json'];
      const { code, out, err } = await runCommand(t, explainCommand(), all);
      if (out === '') throw new Error(err);
      return { code, explanation: JSON.parse(out) as Explanation };
    },
    stop: async () => {
      await proxy.stop();
      for (const host of [client, near, far, outside]) host.close();
      rmSync(folder, { recursive: true });
    },
  };
}

function startProxy(of: {
  readonly mode: string;
  readonly folder: string;
  readonly objects: string;
  readonly runFolder: string;
}): Daemon {
  const flags = [
    ...['run', '-f', of.objects, '--run-folder', of.runFolder, '--proxy-mode', of.mode],
    ...['--hostname-override', 'node1', '--bind-address', NODE.ipv4],
    ...['--cluster-cidr', CLUSTER_CIDRS, '--conntrack-max-per-core', '0'],
  ];
  return startDaemon({
    name: `fairlead in ${of.mode} mode`,
    namespacePath: `/proc/${process.pid}/ns/net`,
    argv: [process.execPath, PROGRAM, ...flags],
    logFile: join(of.folder, 'log'),
  });
}

async function untilSynced(proxy: Daemon, socketPath: string): Promise<void> {
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
