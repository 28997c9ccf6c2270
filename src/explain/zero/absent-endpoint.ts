import type { ServicePortId } from '../../forwarding/model.ts';
import { type EmptyRow, portText, slicesOf } from './empty-row.ts';
import { kubectlLine } from './kubectl-line.ts';
import { podTrouble } from './pod-trouble.ts';
import {
  knownOf,
  type Labels,
  labelsText,
  matches,
  type PodThere,
  type ServiceThere,
  type Surroundings,
} from './surroundings.ts';
import type { ZeroReason } from './zero-reason.ts';

/** An endpoint that was asked for by name or address. */
interface Asked {
  readonly addresses: readonly string[];
  /** Undefined: it was asked for by its address. */
  readonly pod?: { readonly namespace: string; readonly there: PodThere };
}

/** Why no slice has an endpoint at the port of a row. */
export function whyAbsent(
  { pod, addresses }: Asked,
  row: EmptyRow,
  around: Surroundings,
): ZeroReason {
  const { id } = row;
  const service = knownOf(around.service);
  const ofPod = pod && ofItsPod(pod, { id, service });
  if (ofPod !== undefined) return ofPod;
  const slices = (knownOf(around.slices) ?? []).filter((slice) =>
    slice.addresses.some((address) => addresses.includes(address)),
  );
  const show = [kubectlLine(id.namespace, ...slicesOf(id.service, '-o', 'yaml'))];
  const own = slices.find((slice) => slice.service === id.service);
  if (own !== undefined) {
    const ports = own.ports.map(({ name, protocol }) => `${portText(name)}/${protocol}`);
    const has = ports.length === 0 ? 'no port' : ports.join(', ');
    const text = `EndpointSlice ${own.name} has it with ${has}, and the Service wants ${portText(id.port)}/${id.protocol}`;
    return { cause: 'port not in slices', text, next: show };
  }
  const [other] = slices;
  if (other !== undefined) {
    const text = `EndpointSlice ${other.name} has it, which is labelled for ${other.service === '' ? 'no Service' : `Service ${other.service}`}`;
    return { cause: 'slice of another service', text, next: show };
  }
  const unread = [around.service, around.slices].flatMap((read) =>
    'unknown' in read && read.unknown !== '' ? [read.unknown] : [],
  );
  const text = `no EndpointSlice of ${portText(id.port)} of ${id.namespace}/${id.service} has it`;
  return {
    cause: 'not selected',
    text,
    next: show,
    ...(unread[0] === undefined ? {} : { notKnown: unread[0] }),
  };
}

/** What the pod has of the labels that are asked for. */
function ownText(selector: Labels, { labels }: PodThere): string {
  return Object.keys(selector)
    .map((key) => (labels[key] === undefined ? `no label ${key}` : `${key}=${labels[key]}`))
    .join(',');
}

function ofItsPod(
  { namespace, there }: NonNullable<Asked['pod']>,
  { id, service }: { readonly id: ServicePortId; readonly service: ServiceThere | undefined },
): ZeroReason | undefined {
  if (namespace !== id.namespace) {
    return {
      cause: 'not selected',
      text: `it is in namespace ${namespace}, and a Service has pods of its own namespace only`,
      next: [kubectlLine(id.namespace, 'get', 'pods')],
    };
  }
  if (service === undefined || labelsText(service.selector) === '') return undefined;
  const { selector } = service;
  if (!matches(selector, there.labels)) {
    return {
      cause: 'not selected',
      text: `the selector is ${labelsText(selector)}, and it has ${ownText(selector, there)}`,
      next: [kubectlLine(namespace, 'get', 'pod', there.name, '--show-labels')],
    };
  }
  const target = service.ports.find(
    ({ name, protocol }) => name === id.port && protocol === id.protocol,
  )?.targetPort;
  const ports = there.containers
    .flatMap((container) => container.ports)
    .filter(({ protocol }) => protocol === id.protocol);
  if (typeof target === 'string' && !ports.some(({ name }) => name === target)) {
    const names = ports.map(({ name, port }) => (name === '' ? String(port) : name));
    return {
      cause: 'port not in slices',
      text: `targetPort ${target} of ${portText(id.port)} is the name of none of its container ports: it has ${names.join(', ') || 'none'}`,
      next: [kubectlLine(namespace, 'get', 'pod', there.name, '-o', 'yaml')],
    };
  }
  const trouble = podTrouble(there);
  if (trouble === undefined) return undefined;
  const next = [kubectlLine(namespace, ...trouble.next)];
  return { cause: 'no pod is ready', text: `it ${trouble.text}`, next };
}
