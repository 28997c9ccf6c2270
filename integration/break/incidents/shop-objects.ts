import { paths } from '../../../lab/api/objects.ts';
import type { Pod } from '../../../lab/kubelet/pods.ts';
import type { IncidentScene } from './scene.ts';
import { NAMESPACE, runPod, type ShopPod } from './shop.ts';

/** A pod for the time of an incident. */
export async function addPod(
  { lab }: IncidentScene,
  undo: AsyncDisposableStack,
  pod: ShopPod,
): Promise<Pod> {
  const added = await runPod(lab, pod);
  undo.defer(() => added.remove());
  return added;
}

export interface ShopService {
  readonly name: string;
  /** Of `spec`, beside the usual port 80 to 8080. */
  readonly spec: object;
  /** Where the load balancer has an address. */
  readonly balancer?: string;
  /** Made by hand; without any, the controllers make them from the selector. */
  readonly slices?: readonly object[];
  /** How many endpoints both nodes then know, used or not. */
  readonly endpoints: number;
}

/** A Service for the time of an incident; resolves when both nodes have it as told. */
export async function addService(
  scene: IncidentScene,
  undo: AsyncDisposableStack,
  { name, spec, balancer, slices = [], endpoints }: ShopService,
): Promise<void> {
  const { api } = scene.lab;
  await createService(scene, undo, { name, spec });
  if (balancer !== undefined) {
    const status = { loadBalancer: { ingress: [{ ip: balancer }] } };
    await api.patch(`${paths.service(NAMESPACE, name)}/status`, { status });
  }
  for (const slice of slices) await addSlice(scene, undo, slice);
  await scene.untilServed(name, endpoints);
}

/** The object alone: it may be one that proxies do not serve. */
export async function createService(
  scene: IncidentScene,
  undo: AsyncDisposableStack,
  { name, spec }: Pick<ShopService, 'name' | 'spec'>,
): Promise<void> {
  const { api } = scene.lab;
  const ports = [{ name: 'http', port: 80, targetPort: 8080 }];
  await api.create(paths.services(NAMESPACE), { metadata: { name }, spec: { ports, ...spec } });
  undo.defer(async () => {
    await api.delete(paths.service(NAMESPACE, name));
    await scene.untilGone(name);
  });
}

async function addSlice(
  { lab: { api } }: IncidentScene,
  undo: AsyncDisposableStack,
  slice: object,
): Promise<void> {
  const { metadata } = await api.create(paths.slices(NAMESPACE), slice);
  undo.defer(() => api.delete(paths.slice(NAMESPACE, metadata.name)));
}

export interface SliceAddress {
  readonly address: string;
  readonly node?: 1 | 2;
  readonly hint?: string;
}

/** A slice as another controller than Kubernetes' own might write it. */
export function sliceOf(
  service: string,
  endpoints: readonly SliceAddress[],
  port: object = {},
): object {
  return {
    metadata: { name: `${service}-k2m9p`, labels: { 'kubernetes.io/service-name': service } },
    addressType: 'IPv4',
    ports: [{ name: 'http', port: 8080, protocol: 'TCP', ...port }],
    endpoints: endpoints.map(({ address, node = 2, hint }) => ({
      addresses: [address],
      nodeName: `node${node}`,
      zone: node === 1 ? 'zone-a' : 'zone-b',
      conditions: { ready: true },
      ...(hint === undefined ? {} : { hints: { forZones: [{ name: hint }] } }),
    })),
  };
}
