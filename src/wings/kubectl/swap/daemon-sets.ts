import { arrayAt, isRecord, type JsonRecord, recordAt, textAt } from '../../../cluster/json.ts';
import { getJson, type Kubectl, type KubectlCall } from '../kubectl.ts';

/** Where kubeadm has kube-proxy, and our manifests Fairlead. */
export const NAMESPACE = 'kube-system';

/** DaemonSets of a swap, and the label that finds the pods of each. */
const SELECTORS = {
  'kube-proxy': 'k8s-app=kube-proxy',
  fairlead: 'app.kubernetes.io/name=fairlead',
  'kube-proxy-cleanup': 'app.kubernetes.io/name=kube-proxy-cleanup',
  'fairlead-cleanup': 'app.kubernetes.io/name=fairlead-cleanup',
} as const;

export type DaemonSetName = keyof typeof SELECTORS;

/** Asks with the signal of the run. */
export interface Asking {
  readonly kubectl: Kubectl;
  readonly call: KubectlCall;
}

/** Undefined: there is none. */
export async function readDaemonSet(
  { kubectl, call }: Asking,
  name: DaemonSetName,
): Promise<JsonRecord | undefined> {
  const only = `metadata.name=${name}`;
  const args = ['get', 'daemonsets', '-n', NAMESPACE, '--field-selector', only];
  const [found] = arrayAt(await getJson(kubectl, args, call), 'items').filter(isRecord);
  return found;
}

/** Its pods, those being deleted too, by the names of their nodes. */
export async function readPods(
  { kubectl, call }: Asking,
  name: DaemonSetName,
): Promise<readonly JsonRecord[]> {
  const args = ['get', 'pods', '-n', NAMESPACE, '-l', SELECTORS[name]];
  const list = await getJson(kubectl, args, call);
  return arrayAt(list, 'items')
    .filter(isRecord)
    .filter((pod) => isOwnedBy(pod, name))
    .toSorted((a, b) => (nodeOf(a) < nodeOf(b) ? -1 : 1));
}

/** Fairlead's pods have kube-proxy's label too. */
function isOwnedBy(pod: JsonRecord, name: DaemonSetName): boolean {
  return arrayAt(recordAt(pod, 'metadata'), 'ownerReferences')
    .filter(isRecord)
    .some((owner) => textAt(owner, 'kind') === 'DaemonSet' && textAt(owner, 'name') === name);
}

export function nodeOf(pod: JsonRecord): string {
  return textAt(recordAt(pod, 'spec'), 'nodeName');
}

/** How far a rollout has come, by the controller's own word; undefined: it has not seen the last change. */
export interface Rollout {
  readonly desired: number;
  readonly updated: number;
  readonly ready: number;
}

export function rolloutOf(daemonSet: JsonRecord): Rollout | undefined {
  const status = recordAt(daemonSet, 'status');
  const generation = numberAt(recordAt(daemonSet, 'metadata'), 'generation');
  if (numberAt(status, 'observedGeneration') < generation) return undefined;
  return {
    desired: numberAt(status, 'desiredNumberScheduled'),
    updated: numberAt(status, 'updatedNumberScheduled'),
    ready: numberAt(status, 'numberReady'),
  };
}

/** The API leaves zeros out. */
function numberAt(record: JsonRecord, name: string): number {
  const value = record[name];
  return typeof value === 'number' ? value : 0;
}

/** Why a pod does not run, in the kubelet's words; undefined: it runs. */
export function hindranceOf(pod: JsonRecord): string | undefined {
  const status = recordAt(pod, 'status');
  const states = ['initContainerStatuses', 'containerStatuses']
    .flatMap((name) => arrayAt(status, name).filter(isRecord))
    .map((each) => recordAt(each, 'state'));
  const phase = textAt(status, 'phase');
  if (phase === 'Running') return undefined;
  const reasons = states.map((state) => textAt(recordAt(state, 'waiting'), 'reason'));
  const waiting = reasons.find((reason) => reason !== '' && reason !== 'PodInitializing');
  return textAt(status, 'reason') || waiting || phase;
}

/** Whether every init container has ended with success. */
export function hasInitialised(pod: JsonRecord): boolean {
  const wanted = arrayAt(recordAt(pod, 'spec'), 'initContainers').length;
  const ended = arrayAt(recordAt(pod, 'status'), 'initContainerStatuses')
    .filter(isRecord)
    .map((each) => recordAt(recordAt(each, 'state'), 'terminated'))
    .filter((terminated) => terminated['exitCode'] === 0);
  return wanted > 0 && ended.length === wanted;
}
