import type { Pod } from '../../lab/kubelet/pods.ts';
import type { Lab } from '../../lab/lab.ts';
import { NAMESPACE } from './names.ts';

/** A pod in which the bench starts its own program. */
export async function runPod(lab: Lab, of: { name: string; nodeIndex: number }): Promise<Pod> {
  return await lab.pods.run({
    ...of,
    namespace: NAMESPACE,
    labels: {},
    ports: [],
    ready: true,
    hostNetwork: false,
    server: 'own',
  });
}
