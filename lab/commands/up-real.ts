import { formatTable } from '../host/table.ts';
import { nodeAddress, nodeName, podCidr } from '../network/plan.ts';
import { nodeIndexes } from '../network/topology.ts';
import { KUBERNETES_VERSION } from '../parts/build.ts';
import { type RealCluster, startRealCluster } from '../real/cluster.ts';
import { realZoneOf } from '../real/plan.ts';
import { findRealProxy } from '../real/proxies/registry.ts';
import { commandsFor } from './hints.ts';
import type { UpContext } from './up.ts';

export interface UpRealOptions {
  readonly name: string;
  readonly nodes?: number;
  readonly proxy: string;
}

/** Starts a cluster with real nodes and leaves it running. */
export async function upReal(options: UpRealOptions, context: UpContext): Promise<string> {
  const startedAt = performance.now();
  const cluster = await startRealCluster({
    name: options.name,
    nodeCount: options.nodes ?? 3,
    proxy: findRealProxy(options.proxy),
    ...context,
  });
  cluster.detach();
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  return describe({ cluster, seconds, proxy: options.proxy });
}

function describe(of: { cluster: RealCluster; seconds: string; proxy: string }): string {
  const { cluster } = of;
  const nodes = nodeIndexes(cluster).map((index) => {
    const { ipv4, ipv6 } = nodeAddress(index);
    return [nodeName(index), ipv4, ipv6, `${realZoneOf(index)}, pods ${podCidr(index).ipv4}`];
  });
  const command = commandsFor(cluster.name);
  return [
    `Cluster '${cluster.name}' is up after ${of.seconds} s: Kubernetes ${KUBERNETES_VERSION}, ${of.proxy}, logs in ${cluster.logFolder}`,
    '',
    formatTable([['NODE', 'IPV4', 'IPV6', 'WHAT'], ...nodes]),
    '',
    'Three things to try:',
    `  ${command('kubectl', 'get pods -A -o wide')}`,
    `  ${command('kubectl', '-n kube-system logs -l k8s-app=kube-proxy')}`,
    `  ${command('exec', 'node1 -- nft list ruleset')}`,
    '',
    `Take it down: ${command('down')}`,
  ].join('\n');
}
