import type { ApiClient } from '../../../lab/api/client.ts';
import { paths } from '../../../lab/api/objects.ts';
import { until } from '../../../lab/host/until.ts';
import type { NamespaceState } from './states.ts';

const SERVICE = { apiVersion: 'v1', kind: 'Service' } as const;
const SLICE = { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice' } as const;
const GONE_DEADLINE_MS = 30_000;

export async function ensureNamespace(api: ApiClient, name: string): Promise<void> {
  if (await api.find(paths.namespace(name))) return;
  await api.create(paths.namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
}

/** Returns the API server's rejections: no proxy sees a rejected object. */
export async function createState(
  api: ApiClient,
  namespace: string,
  state: NamespaceState,
): Promise<string[]> {
  const rejections: string[] = [];
  for (const { object, ingress } of state.services) {
    const rejection = await tryCreate(api, paths.services(namespace), { ...SERVICE, ...object });
    if (rejection !== undefined) rejections.push(rejection);
    else if (ingress.length > 0) {
      const path = `${paths.service(namespace, object.metadata.name)}/status`;
      await api.patch(path, { status: { loadBalancer: { ingress } } });
    }
  }
  for (const slice of state.slices) {
    const rejection = await tryCreate(api, paths.slices(namespace), { ...SLICE, ...slice });
    if (rejection !== undefined) rejections.push(rejection);
  }
  return rejections;
}

async function tryCreate(
  api: ApiClient,
  path: string,
  object: object,
): Promise<string | undefined> {
  const { status, text } = await api.raw({ method: 'POST', path, body: JSON.stringify(object) });
  return status < 300 ? undefined : (JSON.parse(text) as { message: string }).message;
}

/** A Service by which one sees that everything before it has arrived. */
export async function createMarker(api: ApiClient, namespace: string, name: string): Promise<void> {
  await api.create(paths.services(namespace), {
    ...SERVICE,
    metadata: { name },
    spec: { ipFamilyPolicy: 'RequireDualStack', ports: [{ port: 80 }] },
  });
  for (const [addressType, address] of [
    ['IPv4', '10.200.254.1'],
    ['IPv6', 'fd00:200::ffff'],
  ]) {
    await api.create(paths.slices(namespace), {
      ...SLICE,
      metadata: {
        name: `${name}-${addressType?.toLowerCase()}`,
        labels: { 'kubernetes.io/service-name': name },
      },
      addressType,
      ports: [{ name: '', port: 80, protocol: 'TCP' }],
      endpoints: [{ addresses: [address] }],
    });
  }
}

export async function emptyNamespace(api: ApiClient, namespace: string): Promise<void> {
  await api.delete(paths.slices(namespace));
  const { items } = await api.list<{ metadata: { name: string } }>(paths.services(namespace));
  await Promise.all(
    items.map(({ metadata }) => api.delete(paths.service(namespace, metadata.name))),
  );
  await until(
    async () => {
      const left = await api.list(paths.services(namespace));
      const slices = await api.list(paths.slices(namespace));
      return left.items.length + slices.items.length === 0;
    },
    { what: `namespace ${namespace} to be empty`, deadlineMs: GONE_DEADLINE_MS },
  );
}
