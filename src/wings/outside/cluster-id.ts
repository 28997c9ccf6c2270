import { recordAt, textAt } from '../../cluster/json.ts';
import type { RestClient } from '../../cluster/rest-client.ts';
import { CommandError } from '../../commands/command-error.ts';

const NAMESPACE = '/api/v1/namespaces/kube-system';

/**
 * Identifies a cluster: the UID of a namespace that every cluster has, and that the API server does
 * not delete. Its address does not: an administrator may reach it by another one than the machine, and
 * a tunnel on localhost leads to a different cluster each day.
 */
export async function clusterId(client: Pick<RestClient, 'get'>): Promise<string> {
  const id = textAt(recordAt((await client.get(NAMESPACE)) ?? {}, 'metadata'), 'uid');
  if (id !== '') return id;
  throw new CommandError('the cluster has no namespace kube-system, so it cannot be identified', {
    code: 'CLUSTER_UNKNOWN',
    next: 'check that the server address in the kubeconfig is that of an API server',
  });
}
