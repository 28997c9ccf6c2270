import { Connection } from '../../../cluster/connection.ts';
import { RestClient } from '../../../cluster/rest.ts';
import { accessOf } from '../../../commands/source.ts';
import type { Settings } from '../../../config/settings.ts';
import { dnsService } from '../cluster-facts.ts';

const DEADLINE_MS = 20_000;

/** The addresses of the cluster's DNS Service; undefined: it has none. Throws ClusterError. */
export async function askCluster(
  settings: Settings,
): Promise<{ readonly servers: readonly string[]; readonly origin: string } | undefined> {
  const kubeconfig = settings.api.kubeconfigPath;
  const access = await accessOf({ isAgent: true, ...(kubeconfig && { kubeconfig }) });
  const connection = new Connection({ access, userAgent: 'fairlead' });
  try {
    const client = new RestClient(connection, AbortSignal.timeout(DEADLINE_MS));
    const found = await dnsService(client);
    if (found === undefined) return undefined;
    const { namespace, name, addresses } = found;
    return { servers: addresses, origin: `of Service ${namespace}/${name}` };
  } finally {
    connection.close();
  }
}
