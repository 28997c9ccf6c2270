import { createHash } from 'node:crypto';
import { microTime } from './servers/go-time.ts';

/** The reporting controller. */
export interface EventAbout {
  readonly nodeName: string;
  /** The machine's name; distinguishes several instances. */
  readonly hostName: string;
}

export interface Notice {
  readonly type: 'Normal' | 'Warning';
  /** As in kube-proxy, so that tools that search for its Events find ours. */
  readonly reason: string;
  readonly action: string;
  readonly note: string;
  /** The object that it is about, when not the Node. */
  readonly service?: { readonly namespace: string; readonly name: string };
  /** Every node of the cluster writes the same: the Event has the same name, and exists once. */
  readonly isOfCluster?: boolean;
  /** Its identity: one with the same words is left out for a while. */
  readonly words: string;
  /** Milliseconds since 1970. */
  readonly atMs: number;
  /** Distinguishes Events of the same millisecond. */
  readonly sequence: number;
}

const CONTROLLER = 'fairlead';
/** The API keeps Events of objects without a namespace in this one. */
const NODE_NAMESPACE = 'default';
/** Beyond it the API rejects the Event. */
const NOTE_BYTES = 1024;
const NANOSECONDS = 1_000_000n;

/** An Event in the form of events.k8s.io/v1, and where to post it. */
export function eventObject(notice: Notice, about: EventAbout): { path: string; body: object } {
  const { type, reason, action, note, service, atMs, sequence } = notice;
  const namespace = service?.namespace ?? NODE_NAMESPACE;
  const name = service?.name ?? about.nodeName;
  const regarding =
    service === undefined
      ? // `kubectl describe node` searches for Events whose UID is the name, as the kubelet writes it.
        { apiVersion: 'v1', kind: 'Node', name, uid: name }
      : { apiVersion: 'v1', kind: 'Service', namespace, name };
  const unique = notice.isOfCluster
    ? createHash('sha256')
        .update(JSON.stringify([reason, note]))
        .digest('hex')
        .slice(0, 16)
    : (BigInt(atMs) * NANOSECONDS + BigInt(sequence)).toString(16);
  const body = {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name: `${name}.${unique}`, namespace },
    eventTime: microTime(atMs),
    reportingController: CONTROLLER,
    reportingInstance: `${CONTROLLER}-${about.hostName}`,
    action,
    reason,
    type,
    note: cut(note),
    regarding,
  };
  return { path: `/apis/events.k8s.io/v1/namespaces/${namespace}/events`, body };
}

function cut(note: string): string {
  const bytes = Buffer.from(note);
  if (bytes.length <= NOTE_BYTES) return note;
  // Drop a character that was cut in two.
  return bytes
    .subarray(0, NOTE_BYTES)
    .toString('utf8')
    .replace(/\uFFFD+$/, '');
}
