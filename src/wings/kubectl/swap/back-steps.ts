import type { Kubectl } from '../kubectl.ts';
import { NAMESPACE } from './daemon-sets.ts';
import { cleanupObjects } from './manifests.ts';
import type { FoundKubeProxy } from './prerequisites.ts';
import { allHold, type Change, type Step } from './step.ts';
import { cleanupEnded, isGone, kubeProxyHealthy, kubeProxyRuns, PARKED } from './swap-checks.ts';
import { applied, deleted } from './swap-steps.ts';

export interface BackWanted {
  /** Fairlead's, which removes its own rules. */
  readonly image: string;
  readonly kubeProxy: Pick<FoundKubeProxy, 'image'>;
  readonly isParked: boolean;
  /** For each step. */
  readonly timeoutMs: number;
}

const AGAIN = 'run it again to continue, or kubectl fairlead swap to undo it';

/** Fairlead to kube-proxy, as docs/install.md has it. */
export function backSteps(kubectl: Kubectl, wanted: BackWanted): readonly Step[] {
  const { image, kubeProxy, isParked, timeoutMs } = wanted;
  const images = { fairlead: image, kubeProxy: kubeProxy.image };
  // Its pods would remove what kube-proxy writes, as after a restart of the node.
  const isBeside = allHold(isGone(kubectl, 'kube-proxy-cleanup'), kubeProxyRuns(kubectl));
  const isAlone = allHold(isGone(kubectl, 'fairlead'), kubeProxyHealthy(kubectl));
  return [
    {
      title: 'start kube-proxy beside Fairlead',
      changes: [deleted('daemonset/kube-proxy-cleanup'), ...(isParked ? [unparking()] : [])],
      isDone: isBeside,
      check: isBeside,
      timeoutMs,
      next: `Fairlead still serves every node; kubectl -n ${NAMESPACE} describe daemonset kube-proxy; ${AGAIN}`,
    },
    {
      title: 'stop Fairlead',
      changes: [
        deleted(
          'daemonset/fairlead',
          'configmap/fairlead',
          'serviceaccount/fairlead',
          'clusterrolebinding/fairlead:node-proxier',
        ),
      ],
      isDone: isAlone,
      check: isAlone,
      timeoutMs,
      next: `the rules of both serve, and those of Fairlead are no longer updated: do not leave it so; kubectl -n ${NAMESPACE} logs -l k8s-app=kube-proxy; ${AGAIN}`,
    },
    {
      title: 'remove what Fairlead left',
      changes: [deleted('daemonset/fairlead-cleanup'), applied(cleanupObjects('fairlead', images))],
      // No agent is left to say what is in the kernels.
      isDone: undefined,
      check: cleanupEnded(kubectl, 'fairlead-cleanup'),
      timeoutMs,
      next: `kube-proxy serves, and old rules of Fairlead may reject connections: do not leave it so; kubectl -n ${NAMESPACE} describe pods -l app.kubernetes.io/name=fairlead-cleanup; ${AGAIN}`,
    },
    {
      title: 'delete the pods that removed it',
      changes: [deleted('daemonset/fairlead-cleanup')],
      isDone: isGone(kubectl, 'fairlead-cleanup'),
      check: isGone(kubectl, 'fairlead-cleanup'),
      timeoutMs,
      next: 'run it again to continue',
    },
    {
      title: 'check again',
      changes: [],
      isDone: undefined,
      check: allHold(kubeProxyRuns(kubectl), kubeProxyHealthy(kubectl)),
      timeoutMs,
      next: `kubectl -n ${NAMESPACE} logs -l k8s-app=kube-proxy`,
    },
  ];
}

function unparking(): Change {
  const path = `/spec/template/spec/nodeSelector/${PARKED.key}`;
  const patch = JSON.stringify([{ op: 'remove', path }]);
  const args = ['-n', NAMESPACE, 'patch', 'daemonset', 'kube-proxy', '--type', 'json', '-p', patch];
  return { args };
}
