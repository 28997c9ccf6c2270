import type { Kubectl } from '../kubectl.ts';
import { NAMESPACE } from './daemon-sets.ts';
import { cleanupObjects, fairleadObjects } from './manifests.ts';
import { type FoundKubeProxy, prerequisites } from './prerequisites.ts';
import { allHold, type Change, type Step } from './step.ts';
import {
  agentsComplete,
  agentsReady,
  cleanupEnded,
  isGone,
  kubeProxyParked,
  noLeftovers,
  PARKED,
} from './swap-checks.ts';

export interface SwapWanted {
  /** Fairlead's. */
  readonly image: string;
  readonly kubeProxy: FoundKubeProxy;
  /** For each step. */
  readonly timeoutMs: number;
}

const IN_NAMESPACE = ['-n', NAMESPACE] as const;
const BACK = 'kubectl fairlead back undoes it';

export function applied(objects: Change['objects'] = []): Change {
  return { args: [...IN_NAMESPACE, 'apply', '-f', '-'], objects };
}

export function deleted(...names: readonly string[]): Change {
  return {
    args: [...IN_NAMESPACE, 'delete', ...names, '--ignore-not-found', '--timeout=50s'],
  };
}

/** kube-proxy to Fairlead, as docs/install.md has it step by step. */
export function swapSteps(kubectl: Kubectl, wanted: SwapWanted): readonly Step[] {
  const { image, kubeProxy, timeoutMs } = wanted;
  const images = { fairlead: image, kubeProxy: kubeProxy.image };
  const mayBegin = prerequisites(kubectl, `kube-proxy ${kubeProxy.image}; Fairlead ${image}`);
  // Its pods would remove what Fairlead writes, as after a restart of the node.
  const isBeside = allHold(isGone(kubectl, 'fairlead-cleanup'), agentsReady(kubectl, image));
  const selector = { [PARKED.key]: PARKED.value };
  const parking = { spec: { template: { spec: { nodeSelector: selector } } } };
  return [
    {
      title: 'check rights, kernels and configuration',
      changes: [],
      isDone: mayBegin,
      check: mayBegin,
      timeoutMs: 0,
      next: 'nothing has been changed; repair this, then run it again',
    },
    {
      title: 'start Fairlead beside kube-proxy',
      changes: [
        deleted('daemonset/fairlead-cleanup'),
        applied(fairleadObjects(kubeProxy.files, images)),
      ],
      isDone: isBeside,
      check: isBeside,
      timeoutMs,
      next: `kube-proxy still serves every node; kubectl -n ${NAMESPACE} describe pods -l app.kubernetes.io/name=fairlead; run it again to continue, or ${BACK}`,
    },
    {
      title: 'stop kube-proxy',
      changes: [
        {
          args: [
            ...IN_NAMESPACE,
            'patch',
            'daemonset',
            'kube-proxy',
            '-p',
            JSON.stringify(parking),
          ],
        },
      ],
      isDone: kubeProxyParked(kubectl),
      check: allHold(kubeProxyParked(kubectl), agentsReady(kubectl)),
      timeoutMs,
      next: `Fairlead and kube-proxy's rules serve; run it again to continue, or ${BACK}`,
    },
    {
      title: 'remove what kube-proxy left',
      changes: [
        deleted('daemonset/kube-proxy-cleanup'),
        applied(cleanupObjects('kube-proxy', images)),
      ],
      isDone: noLeftovers(kubectl),
      check: allHold(cleanupEnded(kubectl, 'kube-proxy-cleanup'), noLeftovers(kubectl)),
      timeoutMs,
      next: `Fairlead serves, and old rules of kube-proxy may reject connections: do not leave it so; kubectl fairlead doctor names them; run it again to continue, or ${BACK}`,
    },
    {
      title: 'delete the pods that removed it',
      changes: [deleted('daemonset/kube-proxy-cleanup')],
      isDone: isGone(kubectl, 'kube-proxy-cleanup'),
      check: isGone(kubectl, 'kube-proxy-cleanup'),
      timeoutMs,
      next: 'run it again to continue',
    },
    {
      title: 'check again',
      changes: [],
      isDone: undefined,
      check: allHold(agentsReady(kubectl), agentsComplete(kubectl)),
      timeoutMs,
      next: `kubectl fairlead status, kubectl fairlead diff; ${BACK}`,
    },
  ];
}
