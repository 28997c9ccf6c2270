import type { Service } from '../api/objects.ts';
import { paths } from '../api/objects.ts';
import { until } from '../host/until.ts';
import type { Pod } from '../kubelet/pods.ts';
import type { Lab } from '../lab.ts';
import { httpGet } from '../servers/http-get.ts';

/** The application of the texts: pods `webapp-0`, `webapp-1`, … that answer with their name. */
export const WEBAPP = { name: 'webapp', clusterIp: '10.96.111.132', port: 80 } as const;

/** curl gives up at its own deadline: nobody has refused it either. */
export const NO_ANSWER = { exits: 28, shows: 'no answer: curl gave up' };

const LISTEN_DEADLINE_MS = 30_000;

export interface Webapp {
  readonly pods: readonly Pod[];
  /** One more pod; resolves when the slices have it. */
  grow(): Promise<Pod>;
}

export interface WebappOptions {
  /** A node for each pod, by its index. */
  readonly nodes: readonly number[];
  readonly spec?: object;
}

/** Creates the Service and its pods; resolves when the controllers have written the slices. */
export async function startWebapp(lab: Lab, { nodes, spec = {} }: WebappOptions): Promise<Webapp> {
  await lab.api.create<Service>(paths.services('default'), {
    metadata: { name: WEBAPP.name, labels: { app: WEBAPP.name } },
    spec: {
      clusterIP: WEBAPP.clusterIp,
      selector: { app: WEBAPP.name },
      ports: [{ name: 'http', port: WEBAPP.port, targetPort: 'http' }],
      ...spec,
    },
  });
  const pods: Pod[] = [];
  const grow = async (nodeIndex = nodes[pods.length % nodes.length] ?? 1): Promise<Pod> => {
    const pod = await runWebappPod(lab, { number: pods.length, nodeIndex });
    pods.push(pod);
    await untilSliced(lab, pods.length);
    return pod;
  };
  for (const node of nodes) await grow(node);
  return { pods, grow: () => grow() };
}

async function runWebappPod(
  lab: Lab,
  { number, nodeIndex }: { number: number; nodeIndex: number },
): Promise<Pod> {
  const pod = await lab.pods.run({
    namespace: 'default',
    name: `${WEBAPP.name}-${number}`,
    nodeIndex,
    labels: { app: WEBAPP.name },
    ports: [{ name: 'http', port: WEBAPP.port, protocol: 'TCP' }],
    ready: true,
    hostNetwork: false,
    server: 'agnhost',
  });
  const to = { address: pod.address.ipv4, port: WEBAPP.port, path: '/hostname' };
  const answers = async (): Promise<boolean> => {
    const answer = await httpGet({ namespace: pod.namespacePath }, to).catch(() => undefined);
    return answer?.status === 200;
  };
  const what = `${pod.spec.name} to listen`;
  await until(answers, { what, deadlineMs: LISTEN_DEADLINE_MS });
  return pod;
}

async function untilSliced(lab: Lab, count: number): Promise<void> {
  await lab.slices.until('default', {
    what: `${count} endpoints of ${WEBAPP.name}`,
    holds: (slices) =>
      slices
        .filter(({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === WEBAPP.name)
        .flatMap(({ endpoints }) => endpoints ?? []).length === count,
  });
}
