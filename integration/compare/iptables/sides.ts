import { join } from 'node:path';
import type { Daemon } from '../../../lab/host/processes.ts';
import { retellZone } from '../../../lab/kubelet/nodes.ts';
import type { Lab } from '../../../lab/lab.ts';
import { nodeName } from '../../../lab/network/plan.ts';
import type { ProxyVariant } from '../../../lab/proxies/contract.ts';
import { findProxy } from '../../../lab/proxies/registry.ts';
import { startProxy } from '../../../lab/proxies/running.ts';
import type { Program } from './saves.ts';

export type BackendName = 'nft' | 'legacy';

export const PROGRAMS: Readonly<Record<BackendName, Program>> = {
  nft: 'xtables-nft-multi',
  legacy: 'xtables-legacy-multi',
};

/** Upstream on the first node, Fairlead on the second, which it takes for the first. */
export async function startSides(lab: Lab, backend: BackendName): Promise<Daemon[]> {
  const suffix = backend === 'nft' ? '' : '-legacy';
  const upstream = await startOnNode(lab, 1, findProxy(`upstream-iptables${suffix}`));
  await retellZone(lab.api, 1);
  const ours = await startOnNode(lab, 2, asNode(findProxy(`fairlead-iptables${suffix}`), 1));
  return [upstream, ours];
}

export function startOnNode(lab: Lab, node: number, variant: ProxyVariant): Promise<Daemon> {
  return startProxy({
    lab: lab.name,
    labFolder: lab.folder,
    logFolder: join(lab.folder, 'logs'),
    nodeName: nodeName(node),
    credentials: lab.credentials,
    settings: { addressRules: 'kube-proxy' },
    variant,
  });
}

/** Which endpoints are local, and which ranges hold the node, depends on the node's name. */
function asNode(variant: ProxyVariant, node: number): ProxyVariant {
  return {
    ...variant,
    prepare: (place) => variant.prepare({ ...place, nodeName: nodeName(node) }),
  };
}
