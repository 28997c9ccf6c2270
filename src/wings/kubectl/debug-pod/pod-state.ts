import { arrayAt, isRecord, type JsonRecord, recordAt, textAt } from '../../../cluster/json.ts';

/** How far a pod has come. */
export type PodState =
  | { readonly is: 'running' }
  /** `why`: the kubelet's word, such as ContainerCreating. */
  | { readonly is: 'waiting'; readonly why: string }
  /** It will not run. */
  | { readonly is: 'failed'; readonly reason: string; readonly why: string };

/**
 * Reasons of the kubelet after which waiting does not help. ErrImagePull is not among them: it tries
 * again, and says ImagePullBackOff when that failed too.
 */
const HOPELESS: ReadonlySet<string> = new Set([
  'CreateContainerConfigError',
  'CreateContainerError',
  'ErrImageNeverPull',
  'ImageInspectError',
  'ImagePullBackOff',
  'InvalidImageName',
  'RunContainerError',
]);
const NO_WORD = 'the kubelet has not reported on it';

/** Of a pod with one container, as `kubectl get pod -o json` prints it. */
export function podState(pod: JsonRecord): PodState {
  const status = recordAt(pod, 'status');
  if (textAt(recordAt(pod, 'metadata'), 'deletionTimestamp') !== '') {
    return { is: 'failed', reason: 'Deleted', why: 'another process has deleted it' };
  }
  const [container = {}] = arrayAt(status, 'containerStatuses').filter(isRecord);
  const state = recordAt(container, 'state');
  const phase = textAt(status, 'phase');
  if (phase === 'Failed' || phase === 'Succeeded') return ended(status, state);
  if (isRecord(state['running'])) return { is: 'running' };
  const waiting = recordAt(state, 'waiting');
  const reason = textAt(waiting, 'reason');
  const why = joined(reason, textAt(waiting, 'message'));
  if (HOPELESS.has(reason)) return { is: 'failed', reason, why };
  return { is: 'waiting', why: why === '' ? NO_WORD : why };
}

/** The kubelet rejects pods by status.reason: Evicted, OutOfmemory, DeadlineExceeded. */
function ended(status: JsonRecord, state: JsonRecord): PodState {
  const terminated = recordAt(state, 'terminated');
  const reason = textAt(status, 'reason') || textAt(terminated, 'reason') || 'Ended';
  const message = textAt(status, 'message') || textAt(terminated, 'message');
  return { is: 'failed', reason, why: joined(reason, message) };
}

function joined(reason: string, message: string): string {
  const [first = ''] = message.trim().split('\n');
  return [reason, first].filter((each) => each !== '').join(': ');
}
