import { countText } from '../explain-words.ts';
import { type EmptyRow, slicesOf } from './empty-row.ts';
import { kubectlLine } from './kubectl-line.ts';
import { noPodMatches } from './no-pod.ts';
import { noSlice, ofAnother } from './no-slice.ts';
import { podTrouble } from './pod-trouble.ts';
import { podsNotReady } from './pods-not-ready.ts';
import { portMissing } from './port-missing.ts';
import {
  knownOf,
  labelsText,
  matches,
  type PodThere,
  type PortName,
  type ServiceThere,
  type Surroundings,
} from './surroundings.ts';
import type { ZeroReason } from './zero-reason.ts';

/** Why a row has no endpoint that could serve. */
export function whyNoEndpoint(row: EmptyRow, around: Surroundings): ZeroReason {
  const service = knownOf(around.service);
  const hasSelector = service ? labelsText(service.selector) !== '' : row.backing?.hasSelector;
  if (row.candidates.length > 0) return ofCandidates(row, around, hasSelector);
  const slices = sliceContents(row, around);
  const hasPort = slices.ports.some(
    ({ name, protocol }) => name === row.id.port && protocol === row.id.protocol,
  );
  if (slices.endpoints > 0 && !hasPort) return portMissing(row, slices, around);
  if (slices.endpoints > 0 && 'known' in around.slices) return late(row, slices.endpoints);
  if (hasSelector === false) return noSlice(row.id, around);
  if (service === undefined || hasSelector === undefined || 'unknown' in around.pods) {
    return notKnown(row, around);
  }
  return ofSelector(row, service, around);
}

/** What the slices of the row's family have: read now, or as the agent says. */
function sliceContents({ id, backing }: EmptyRow, { slices }: Surroundings) {
  if ('unknown' in slices) return backing ?? { endpoints: 0, ports: [] };
  const own = slices.known.filter(
    ({ service, family }) => service === id.service && family === id.family,
  );
  const ports = new Map<string, PortName>();
  for (const port of own.flatMap((slice) => slice.ports)) {
    ports.set(`${port.name}/${port.protocol}`, port);
  }
  const endpoints = own.reduce((sum, { addresses }) => sum + addresses.length, 0);
  return { endpoints, ports: [...ports.values()] };
}

/** What was read now is newer than the row. */
function late({ id }: EmptyRow, endpoints: number): ZeroReason {
  const have = `its EndpointSlices have ${countText(endpoints, 'endpoint')} by now`;
  return {
    cause: 'not known',
    text: `${have}, which the row does not have yet`,
    next: ['fairlead status', kubectlLine(id.namespace, ...slicesOf(id.service))],
  };
}

function ofCandidates(
  { id, candidates }: EmptyRow,
  around: Surroundings,
  hasSelector: boolean | undefined,
): ZeroReason {
  const { namespace } = id;
  const service = knownOf(around.service);
  const selector = service?.selector ?? {};
  const pods = matchingPods(service, around);
  if (pods.length > 0 && pods.every((pod) => podTrouble(pod) !== undefined)) {
    return podsNotReady(pods, { namespace, selector });
  }
  const all = countText(candidates.length, 'endpoint');
  const isEnding = ({ state }: { state: string }) => state === 'gone' || state === 'terminating';
  const ending = candidates.filter(isEnding).length;
  const unread = 'unknown' in around.pods && hasSelector !== false;
  const more = {
    next: [
      hasSelector === false
        ? kubectlLine(namespace, ...slicesOf(id.service, '-o', 'yaml'))
        : kubectlLine(namespace, 'get', 'pods', '-o', 'wide', ...selectorWords(selector)),
    ],
    ...(unread && around.pods.unknown !== '' ? { notKnown: around.pods.unknown } : {}),
  };
  if (ending === candidates.length) {
    const are = ending === 1 ? 'is' : 'are all';
    const text = `its ${all} ${are} terminating, and no longer serve${ending === 1 ? 's' : ''}`;
    return { cause: 'only terminating', text, ...more };
  }
  const rest = ending === 0 ? '' : `, and ${ending} of them terminate`;
  const said =
    hasSelector === false
      ? '; the Service has no selector, so Kubernetes does not update its EndpointSlices'
      : '';
  const ready = pods.find((pod) => podTrouble(pod) === undefined);
  const isLate = ready === undefined ? '' : `, but pod ${ready.name} is ready by now`;
  const none =
    candidates.length === 1 ? 'its endpoint is not ready' : `none of its ${all} is ready`;
  return { cause: 'not ready', text: `${none}${rest}${said}${isLate}`, ...more };
}

function ofSelector(row: EmptyRow, service: ServiceThere, around: Surroundings): ZeroReason {
  const { namespace, family } = row.id;
  const { selector } = service;
  const all = knownOf(around.pods) ?? [];
  const pods = matchingPods(service, around);
  if (pods.length === 0) {
    const stray = around.from === 'manifests' ? strayOf(row, around) : undefined;
    return stray ?? noPodMatches(service, all, around);
  }
  const ready = pods.filter((pod) => podTrouble(pod) === undefined);
  if (ready.length === 0) return podsNotReady(pods, { namespace, selector });
  const reached = ready.filter(({ addresses }) => addresses.some((ip) => isOf(ip, family)));
  if (reached.length === 0) {
    const columns = 'custom-columns=POD:.metadata.name,IPS:.status.podIPs[*].ip';
    return {
      cause: 'no pod of the family',
      text: `its ${ready.length === 1 ? 'ready pod has' : `${ready.length} ready pods have`} no ${family} address`,
      next: [kubectlLine(namespace, 'get', 'pods', '-o', columns, ...selectorWords(selector))],
    };
  }
  const addresses = new Set(reached.flatMap((pod) => pod.addresses));
  const other = (knownOf(around.slices) ?? []).find(
    (slice) => slice.service !== service.name && slice.addresses.some((ip) => addresses.has(ip)),
  );
  const isAlone = !hasOwnSlice(row, around);
  if (other !== undefined && isAlone) return ofAnother(row.id, other);
  return unsliced(row, reached, around);
}

/** Of manifests without pods only the name tells which slice was meant. */
function strayOf({ id }: EmptyRow, around: Surroundings): ZeroReason | undefined {
  const found = (knownOf(around.slices) ?? []).find(
    ({ name, service, addresses }) =>
      service !== id.service && addresses.length > 0 && name.startsWith(`${id.service}-`),
  );
  return found === undefined ? undefined : ofAnother(id, found);
}

function hasOwnSlice({ id }: EmptyRow, { slices }: Surroundings): boolean {
  return (knownOf(slices) ?? []).some(({ service }) => service === id.service);
}

/** Pods that are ready, and nothing has made a slice of them. */
function unsliced({ id }: EmptyRow, pods: readonly PodThere[], { from }: Surroundings): ZeroReason {
  const [first] = pods;
  const text =
    pods.length === 1
      ? `pod ${first?.name} is ready, and no EndpointSlice has it`
      : `${pods.length} pods are ready, such as ${first?.name}, and no EndpointSlice has them`;
  if (from === 'manifests') {
    return { cause: 'no slice', text: `${text}: only a cluster makes slices`, next: [] };
  }
  return {
    cause: 'no slice',
    text: `${text}: the EndpointSlice controller (kube-controller-manager) is late or does not run`,
    next: [
      kubectlLine(id.namespace, ...slicesOf(id.service)),
      kubectlLine('kube-system', 'get', 'lease', 'kube-controller-manager', '-o', 'yaml'),
    ],
  };
}

function notKnown({ id, backing }: EmptyRow, around: Surroundings): ZeroReason {
  const unread = [around.service, around.pods].flatMap((read) =>
    'unknown' in read && read.unknown !== '' ? [read.unknown] : [],
  );
  const text =
    backing === undefined || backing.slices > 0
      ? 'no EndpointSlice of it has an endpoint'
      : 'it has no EndpointSlice';
  const service = knownOf(around.service);
  const words = service
    ? ['get', 'pods', '-o', 'wide', ...selectorWords(service.selector)]
    : ['describe', 'service', id.service];
  return {
    cause: 'not known',
    text,
    next: [kubectlLine(id.namespace, ...words)],
    ...(unread[0] === undefined ? {} : { notKnown: unread[0] }),
  };
}

export function matchingPods(
  service: ServiceThere | undefined,
  { pods }: Surroundings,
): readonly PodThere[] {
  if (service === undefined || labelsText(service.selector) === '') return [];
  return (knownOf(pods) ?? []).filter(({ labels }) => matches(service.selector, labels));
}

function selectorWords(selector: Readonly<Record<string, string>>): readonly string[] {
  const text = labelsText(selector);
  return text === '' ? [] : ['-l', text];
}

function isOf(address: string, family: string): boolean {
  return address.includes(':') === (family === 'IPv6');
}
