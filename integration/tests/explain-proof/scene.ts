import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { runCommand } from '../../../src/commands/basis/testing/run-command.ts';
import { explainCommand } from '../../../src/commands/explain-command.ts';
import type { Explanation } from '../../../src/explain/explanation.ts';
import { type OwnPlace, ownPlace } from '../../../src/linux/ebpf/testing/own-place.ts';
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
  /** Of the maps of eBPF programs. */
  readonly pinFolder: string;
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

/** In a network namespace of its own, and for eBPF programs with a cgroup and pins of its own. */
export async function startScene(
  mode: string,
  {
    objectsOf = shopObjects,
    prepare,
  }: {
    readonly objectsOf?: typeof shopObjects;
    /** On the node, before its agent starts. */
    readonly prepare?: () => void;
  } = {},
): Promise<Scene> {
  const hooks = mode.endsWith('-ebpf') ? ownPlace(`explain-${mode}`) : undefined;
  enterOwnNetwork();
  for (const path of ['ipv4/ip_forward', 'ipv6/conf/all/forwarding']) {
    writeFileSync(`/proc/sys/net/${path}`, '1');
  }
  const client = joinPod(await startHost('client'), 1);
  const near = joinPod(await startHost('near'), 2);
  const far = joinPod(await startHost('far'), 3);
  const outside = joinOutside(await startHost('outside'));
  const here = await startHost('here', { here: true });
  // Without a route a packet to a Service address does not come to the rules that reject it.
  ip(`route add default via ${outside.ipv4}`, `route add ::/0 via ${outside.ipv6}`);
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-explain-'));
  const objects = join(folder, 'shop.json');
  writeFileSync(objects, JSON.stringify(objectsOf({ client, near, far })));
  const runFolder = join(folder, 'run');
  // The hooks serve the sockets of one cgroup: those of this process, which sends the probes.
  if (hooks) moveSelfTo(hooks.cgroup);
  const config = join(folder, 'config.json');
  writeFileSync(config, configuration(mode, hooks));
  prepare?.();
  const proxy = startFairlead({ mode, folder, objects, flags: ['--config', config] });
  await untilSynced(proxy, folder);
  return {
    client,
    near,
    far,
    outside,
    runFolder,
    pinFolder: pinFolderOf(hooks),
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
      for (const host of [client, near, far, outside, here]) host.close();
      if (hooks) leavePlace(hooks);
      rmSync(folder, { recursive: true });
    },
  };
}

function moveSelfTo(cgroup: string): void {
  writeFileSync(join(cgroup, 'cgroup.procs'), String(process.pid));
}

/** Programs stay attached when the agent ends; a cgroup with processes cannot be removed. */
function leavePlace(hooks: OwnPlace): void {
  moveSelfTo(dirname(hooks.cgroup));
  rmSync(pinFolderOf(hooks), { recursive: true, force: true });
  hooks.leave();
}

function pinFolderOf(hooks: OwnPlace | undefined): string {
  return hooks === undefined ? '' : join(hooks.pins, 'fairlead');
}

function configuration(mode: string, hooks: OwnPlace | undefined): string {
  const places = hooks && { cgroup: hooks.cgroup, pinFolder: pinFolderOf(hooks) };
  return JSON.stringify({
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    hostnameOverride: 'node1',
    bindAddress: NODE.ipv4,
    clusterCIDR: CLUSTER_CIDRS,
    conntrack: { maxPerCore: 0 },
    fairlead: { mode, ...places },
  });
}
