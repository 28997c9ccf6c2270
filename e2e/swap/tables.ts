import { LabError } from '../../lab/host/errors.ts';
import { enterNamespace, namespacePath } from '../../lab/host/namespaces.ts';
import { run } from '../../lab/host/run.ts';
import { nodeName } from '../../lab/network/plan.ts';
import { nodeIndexes } from '../../lab/network/topology.ts';
import type { RealCluster } from '../../lab/real/cluster.ts';

/** Of kube-proxy and of Fairlead in nftables mode, in both families. */
export type ProxyTable = 'kube-proxy' | 'fairlead';

/** That every node has the tables of one proxy and none of the other's. */
export async function assertTables(
  cluster: RealCluster,
  { of, not }: { of: ProxyTable; not: ProxyTable },
): Promise<void> {
  for (const index of nodeIndexes(cluster)) {
    const path = namespacePath({ lab: cluster.name, role: nodeName(index) });
    const listing = await run(enterNamespace(path, ['nft', 'list', 'tables']));
    const tables = listing.trim().split('\n');
    const missing = ['ip', 'ip6'].filter((family) => !tables.includes(`table ${family} ${of}`));
    const left = ['ip', 'ip6'].filter((family) => tables.includes(`table ${family} ${not}`));
    if (missing.length + left.length === 0) continue;
    throw new LabError(
      'LAB_COMMAND_FAILED',
      `${nodeName(index)} has the wrong tables: ${tables.join(', ')}`,
      {
        next: `expected the tables of ${of} and none of ${not}; check the steps before`,
      },
    );
  }
}
