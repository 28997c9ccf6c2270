import type { ApiClient } from '../api/client.ts';
import { USERS } from './credentials.ts';

const PATH = '/apis/rbac.authorization.k8s.io/v1';
const NAME = 'fairlead:namespaces';
const GROUP = 'rbac.authorization.k8s.io';

/** Beside the role of kube-proxy, which every API server has: what deploy/ebpf gives in addition. */
export async function letProxyReadNamespaces(api: ApiClient): Promise<void> {
  if (await api.find(`${PATH}/clusterrolebindings/${NAME}`)) return;
  await api.create(`${PATH}/clusterroles`, {
    metadata: { name: NAME },
    rules: [{ apiGroups: [''], resources: ['namespaces'], verbs: ['list', 'watch'] }],
  });
  await api.create(`${PATH}/clusterrolebindings`, {
    metadata: { name: NAME },
    roleRef: { apiGroup: GROUP, kind: 'ClusterRole', name: NAME },
    subjects: [{ apiGroup: GROUP, kind: 'User', name: USERS.proxy.name }],
  });
}
