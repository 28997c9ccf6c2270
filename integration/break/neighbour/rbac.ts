import type { ApiClient } from '../../../lab/api/client.ts';
import { type KubeObject, paths } from '../../../lab/api/objects.ts';
import { HOSTILE } from './names.ts';

const NAME = 'neighbour';
const TOKEN_SECONDS = 7_200;
const RBAC = `/apis/rbac.authorization.k8s.io/v1/namespaces/${HOSTILE}`;

/**
 * What may be written. An ordinary user has no `services/status`; a controller of load balancers has,
 * and so this is the worst case.
 */
const RULES = [
  { apiGroups: [''], resources: ['services', 'services/status'] },
  { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'] },
].map((rule) => ({ ...rule, verbs: ['create', 'update', 'patch', 'delete', 'get', 'list'] }));

interface TokenRequest extends KubeObject {
  readonly status?: { readonly token?: string };
}

/** Creates a service account with rights in one namespace only; returns its token. */
export async function admitHostileUser(api: ApiClient): Promise<string> {
  await api.create(paths.namespaces, { metadata: { name: HOSTILE } });
  const accounts = `/api/v1/namespaces/${HOSTILE}/serviceaccounts`;
  await api.create(accounts, { metadata: { name: NAME } });
  await api.create(`${RBAC}/roles`, { metadata: { name: NAME }, rules: RULES });
  await api.create(`${RBAC}/rolebindings`, {
    metadata: { name: NAME },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: NAME },
    subjects: [{ kind: 'ServiceAccount', name: NAME, namespace: HOSTILE }],
  });
  const answer = await api.create<TokenRequest>(`${accounts}/${NAME}/token`, {
    spec: { expirationSeconds: TOKEN_SECONDS },
  });
  const token = answer.status?.token;
  if (token === undefined) throw new Error('the API server gave no token');
  return token;
}
