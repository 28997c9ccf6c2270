import { ClusterError } from '../../cluster/errors.ts';
import { recordAt, textAt } from '../../cluster/json.ts';
import type { RestClient } from '../../cluster/rest.ts';

export interface TokenRequest {
  readonly account: { readonly namespace: string; readonly name: string };
  /** The API server may give a shorter life, as its flags have it. */
  readonly lifetimeSeconds: number;
}

/** A new token for a ServiceAccount. Throws ClusterError. */
export async function requestToken(client: RestClient, request: TokenRequest): Promise<string> {
  const { account, lifetimeSeconds } = request;
  const path = `/api/v1/namespaces/${account.namespace}/serviceaccounts/${account.name}/token`;
  const answer = await client.create(path, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { expirationSeconds: lifetimeSeconds },
  });
  const token = textAt(recordAt(answer, 'status'), 'token');
  if (token !== '') return token;
  throw new ClusterError('CLUSTER_MALFORMED', `create in ${path}: the response has no token`, {
    next: 'check that the server address in the kubeconfig is that of an API server',
  });
}
