import { paths, type Service } from '../../../../lab/api/objects.ts';
import type { Destination } from '../../../../lab/host/sockets.ts';
import type { Pod } from '../../../../lab/kubelet/pods.ts';
import type { Lab } from '../../../../lab/lab.ts';
import { NODE, NODE_INDEX, SERVE_PORT, SERVICE_PORT, VICTIM } from '../names.ts';

/** A Service of the victim with the pods that it is given. */
export async function createService(
  lab: Lab,
  of: { readonly name: string; readonly pods: readonly Pod[]; readonly isSticky?: true },
): Promise<Destination> {
  const { name } = of;
  const ports = [{ protocol: 'TCP', port: SERVICE_PORT, targetPort: SERVE_PORT }];
  const affinity = of.isSticky ? { sessionAffinity: 'ClientIP' } : {};
  const { spec } = await lab.api.create<Service>(paths.services(VICTIM), {
    metadata: { name },
    spec: { ports, ...affinity },
  });
  await lab.api.create(paths.slices(VICTIM), {
    metadata: { name, labels: { 'kubernetes.io/service-name': name } },
    addressType: 'IPv4',
    endpoints: of.pods.map(endpointOf),
    ports: [{ name: '', protocol: 'TCP', port: SERVE_PORT }],
  });
  return { address: spec.clusterIP ?? '', port: SERVICE_PORT };
}

export async function setEndpoint(lab: Lab, name: string, pod: Pod): Promise<void> {
  await lab.api.patch(paths.slice(VICTIM, name), { endpoints: [endpointOf(pod)] });
}

export async function runPod(lab: Lab, namespace: string, name: string): Promise<Pod> {
  return await lab.pods.run({
    namespace,
    name,
    nodeIndex: NODE_INDEX,
    labels: {},
    ports: [{ port: SERVE_PORT, protocol: 'TCP' }],
    ready: true,
    hostNetwork: false,
    server: 'own',
  });
}

function endpointOf({ address }: Pod): object {
  const conditions = { ready: true, serving: true, terminating: false };
  return { addresses: [address.ipv4], nodeName: NODE, conditions };
}
