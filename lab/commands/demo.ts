import type { Service } from '../api/objects.ts';
import { paths } from '../api/objects.ts';
import { until } from '../host/until.ts';
import type { PodSpec } from '../kubelet/pods.ts';
import type { Lab } from '../lab.ts';
import { nodeIndexes } from '../network/topology.ts';
import { httpGet } from '../servers/http-get.ts';

const SERVE_PORT = 8080;
const REACHABLE_DEADLINE_MS = 30_000;

/** A first Service of a new lab: `web`, with a pod on every node. */
export async function deployDemo(lab: Lab): Promise<Service> {
  const pods = nodeIndexes(lab).map((nodeIndex) =>
    lab.pods.run(demoPod({ service: 'web', number: nodeIndex, nodeIndex })),
  );
  await Promise.all(pods);
  return await lab.api.create<Service>(paths.services('default'), {
    metadata: { name: 'web' },
    spec: {
      type: 'NodePort',
      ipFamilyPolicy: 'RequireDualStack',
      selector: { app: 'web' },
      ports: [
        { name: 'http', port: 80, targetPort: 'http' },
        { name: 'udp', port: 80, targetPort: 'udp', protocol: 'UDP' },
      ],
    },
  });
}

export function demoPod(of: { service: string; number: number; nodeIndex: number }): PodSpec {
  return {
    namespace: 'default',
    name: `${of.service}-${of.number}`,
    nodeIndex: of.nodeIndex,
    labels: { app: of.service },
    ports: [
      { name: 'http', port: SERVE_PORT, protocol: 'TCP' },
      { name: 'udp', port: SERVE_PORT, protocol: 'UDP' },
    ],
    ready: true,
    hostNetwork: false,
    server: 'agnhost',
  };
}

/** Resolves when the Service answers on each of these hosts, in both families. */
export async function untilReachable(of: {
  lab: Lab;
  service: Service;
  hosts: readonly string[];
}): Promise<void> {
  const { lab, service, hosts } = of;
  const questions = hosts.flatMap((host) =>
    (service.spec.clusterIPs ?? []).map((address) => ({ host, address })),
  );
  await Promise.all(
    questions.map(({ host, address }) =>
      until(
        async () => {
          const to = { address, port: 80, path: '/hostname' };
          const answer = await httpGet({ namespace: lab.namespacePath(host) }, to).catch(
            () => undefined,
          );
          return answer?.status === 200;
        },
        { what: `${address} to answer on ${host}`, deadlineMs: REACHABLE_DEADLINE_MS },
      ),
    ),
  );
}
