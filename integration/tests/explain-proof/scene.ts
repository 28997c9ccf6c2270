import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { runCommand } from '../../../src/commands/basis/testing/run-command.ts';
import { explainCommand } from '../../../src/commands/explain.ts';
import type { Explanation } from '../../../src/explain/explanation.ts';
import { enterOwnNetwork, ip } from '../../../src/linux/netlink/testing/own-namespace.ts';
import { startHost } from '../../../src/linux/testing/hosts/host.ts';
import {
  joinOutside,
  joinPod,
  type PlacedHost,
} from '../../../src/linux/testing/hosts/placed-host.ts';
import { startFairlead, untilSynced } from '../fairlead-process.ts';
import { CLUSTER_CIDRS, NODE, shopObjects } from './shop.ts';

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
  const flags = ['--bind-address', NODE.ipv4, '--cluster-cidr', CLUSTER_CIDRS];
  const proxy = startFairlead({ mode, folder, objects, flags });
  await untilSynced(proxy, folder);
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
