import { enterNamespace } from '../../lab/host/namespaces.ts';
import { run } from '../../lab/host/run.ts';
import type { RealCluster } from '../../lab/real/cluster.ts';

/** Runs kubectl as the administrator of the cluster; gives what it prints. */
export type Kubectl = (args: readonly string[]) => Promise<string>;

const DEADLINE_MS = 90_000;

export function kubectlOf(cluster: RealCluster, signal: AbortSignal): Kubectl {
  return (args) => {
    const [program, ...first] = administratorCommand(cluster, cluster.parts.kubectl);
    return run([program, ...first, ...args], { deadlineMs: DEADLINE_MS, signal });
  };
}

/** A client of the cluster, as its administrator starts it. */
export function administratorCommand(cluster: RealCluster, client: string): [string, ...string[]] {
  const kubeconfig = `--kubeconfig=${cluster.credentials.adminKubeconfig}`;
  return enterNamespace(cluster.fabricPath, [client, kubeconfig]);
}
