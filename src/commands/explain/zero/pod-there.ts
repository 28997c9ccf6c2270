import { canonicalIp } from '../../../addresses/ip.ts';
import {
  arrayAt,
  booleanAt,
  isRecord,
  type JsonRecord,
  recordAt,
  textAt,
} from '../../../cluster/json.ts';
import type {
  Condition,
  ContainerState,
  ContainerThere,
  PodThere,
  WorkloadThere,
} from '../../../explain/zero/surroundings.ts';
import { labelsAt, portName } from './service-there.ts';

/** The fields of a Pod that tell why it serves nobody. */
export function podThere(raw: JsonRecord): PodThere {
  const [metadata, spec, status] = ['metadata', 'spec', 'status'].map((each) =>
    recordAt(raw, each),
  ) as [JsonRecord, JsonRecord, JsonRecord];
  const ips = recordsAt(status, 'podIPs').map((each) => textAt(each, 'ip'));
  return {
    name: textAt(metadata, 'name'),
    labels: labelsAt(metadata, 'labels'),
    addresses: [
      ...new Set([textAt(status, 'podIP'), ...ips].flatMap((ip) => canonicalIp(ip) ?? [])),
    ],
    nodeName: textAt(spec, 'nodeName'),
    isTerminating: textAt(metadata, 'deletionTimestamp') !== '',
    phase: phaseOf(status),
    reason: textAt(status, 'reason'),
    conditions: conditionsAt(status),
    containers: [
      ...containersOf(recordsAt(spec, 'initContainers'), status, 'initContainerStatuses'),
      ...containersOf(recordsAt(spec, 'containers'), status, 'containerStatuses'),
    ],
  };
}

/** A status that somebody wrote down may have conditions and no phase. */
function phaseOf(status: JsonRecord): string {
  const isSaid = textAt(status, 'podIP') !== '' || arrayAt(status, 'conditions').length > 0;
  return textAt(status, 'phase') || (isSaid ? 'Running' : '');
}

function containersOf(
  specs: readonly JsonRecord[],
  status: JsonRecord,
  field: 'containerStatuses' | 'initContainerStatuses',
): readonly ContainerThere[] {
  const statuses = recordsAt(status, field);
  return specs.map((spec) => {
    const name = textAt(spec, 'name');
    const said = statuses.find((each) => textAt(each, 'name') === name) ?? {};
    const state = stateAt(said, 'state');
    const before = stateAt(said, 'lastState');
    const isSidecar = textAt(spec, 'restartPolicy') === 'Always';
    return {
      name,
      isInit: field === 'initContainerStatuses' && !isSidecar,
      ports: recordsAt(spec, 'ports').map(portName),
      readinessProbe: probeText(recordAt(spec, 'readinessProbe')),
      startupProbe: probeText(recordAt(spec, 'startupProbe')),
      isReady: booleanAt(said, 'ready') === true,
      isStarted: booleanAt(said, 'started') !== false,
      ...(state === undefined ? {} : { state }),
      ...(before === undefined ? {} : { before }),
    };
  });
}

const STATES = ['waiting', 'running', 'terminated'] as const;

function stateAt(said: JsonRecord, name: string): ContainerState | undefined {
  const all = recordAt(said, name);
  const is = STATES.find((each) => isRecord(all[each]));
  if (is === undefined) return undefined;
  const state = recordAt(all, is);
  const { exitCode } = state;
  return {
    is,
    reason: textAt(state, 'reason'),
    message: textAt(state, 'message'),
    exitCode: typeof exitCode === 'number' ? exitCode : 0,
  };
}

/** `GET :8080/healthz`, `TCP :5432`, `exec cat /tmp/ready`; empty: none. */
function probeText(probe: JsonRecord): string {
  const [http, tcp, grpc] = ['httpGet', 'tcpSocket', 'grpc'].map((each) => probe[each]);
  if (isRecord(http)) return `GET :${portOf(http)}${textAt(http, 'path') || '/'}`;
  if (isRecord(tcp)) return `TCP :${portOf(tcp)}`;
  if (isRecord(grpc)) return `gRPC :${portOf(grpc)}`;
  const words = arrayAt(recordAt(probe, 'exec'), 'command').map(String);
  return words.length === 0 ? '' : `exec ${words.join(' ')}`;
}

function portOf({ port }: JsonRecord): string {
  return typeof port === 'string' || typeof port === 'number' ? String(port) : '';
}

export function workloadThere(kind: string, raw: JsonRecord): WorkloadThere {
  const [spec, status] = [recordAt(raw, 'spec'), recordAt(raw, 'status')];
  const { replicas = 1 } = spec;
  const failed = conditionsAt(status).find(
    ({ type, status: is }) => type === 'ReplicaFailure' && is === 'True',
  );
  return {
    kind,
    name: textAt(recordAt(raw, 'metadata'), 'name'),
    labels: labelsAt(recordAt(recordAt(spec, 'template'), 'metadata'), 'labels'),
    ...(kind !== 'DaemonSet' && typeof replicas === 'number' ? { replicas } : {}),
    failure: failed?.message ?? '',
  };
}

function conditionsAt(status: JsonRecord): readonly Condition[] {
  return recordsAt(status, 'conditions').map((each) => ({
    type: textAt(each, 'type'),
    status: textAt(each, 'status'),
    reason: textAt(each, 'reason'),
    message: textAt(each, 'message'),
  }));
}

function recordsAt(parent: JsonRecord, name: string): readonly JsonRecord[] {
  return arrayAt(parent, name).filter(isRecord);
}
