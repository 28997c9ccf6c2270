import { slicesOf } from './empty-row.ts';
import { kubectlLine } from './kubectl-line.ts';
import { nearMiss } from './near-miss.ts';
import {
  knownOf,
  type Labels,
  labelsText,
  matches,
  type PodThere,
  type ServiceThere,
  type Surroundings,
  type WorkloadThere,
} from './surroundings.ts';
import type { ZeroReason } from './zero-reason.ts';

/** Label values of other pods that a sentence lists. */
const MOST_VALUES = 3;

/** The selector matches no pod: whether a workload would make some, or others are nearly meant. */
export function noPodMatches(
  service: ServiceThere,
  pods: readonly PodThere[],
  around: Surroundings,
): ZeroReason {
  const { namespace, selector } = service;
  const workloads = knownOf(around.workloads) ?? [];
  const maker = workloads.find(({ labels }) => matches(selector, labels));
  const text = `its selector ${labelsText(selector)} matches no pod of namespace ${namespace}`;
  if (maker !== undefined) return ofMaker(text, maker, { service, around });
  const show = kubectlLine(namespace, 'get', 'pods', '--show-labels');
  const near = nearMiss(selector, [...pods, ...workloads]);
  if (near === undefined) {
    const bare =
      around.from === 'manifests' && pods.length === 0 ? ofManifests(service, around) : undefined;
    const other = othersText(selector, pods, around);
    return bare ?? { cause: 'no pod matches', text: `${text}${other}`, next: [show] };
  }
  const { found, labels } = near;
  const what =
    'kind' in found ? `the pods of ${found.kind} ${found.name} have` : `pod ${found.name} has`;
  const changed = Object.keys(selector).filter((key) => selector[key] !== labels[key]);
  const differing = Object.fromEntries(changed.map((key) => [key, labels[key] ?? '']));
  const words = ['set', 'selector', 'service', service.name, labelsText(labels)];
  return {
    cause: 'no pod matches',
    text: `${text}; ${what} ${labelsText(differing)}`,
    next: [show, kubectlLine(namespace, ...words)],
  };
}

/** Somebody saved Services and slices without pods, or wrote what a cluster would complete. */
function ofManifests({ namespace, name }: ServiceThere, around: Surroundings): ZeroReason {
  const own = (knownOf(around.slices) ?? []).find(({ service }) => service === name);
  if (own !== undefined) {
    const text = `its EndpointSlice ${own.name} has no endpoints, and the manifests have no pods that would tell why`;
    return {
      cause: 'not known',
      text,
      next: [kubectlLine(namespace, 'get', 'pods', '--show-labels')],
    };
  }
  const text = 'the manifests have no EndpointSlice of it: only a cluster makes them, for its pods';
  return {
    cause: 'no slice',
    text,
    next: [kubectlLine(namespace, ...slicesOf(name, '-o', 'yaml'))],
  };
}

function ofMaker(
  text: string,
  { kind, name, replicas, failure }: WorkloadThere,
  { service, around }: { readonly service: ServiceThere; readonly around: Surroundings },
): ZeroReason {
  const { namespace } = service;
  const what = `${kind} ${name}`;
  const resource = [kind.toLowerCase(), name];
  const cause = 'no pod matches';
  if (replicas === 0) {
    const next = [kubectlLine(namespace, 'scale', ...resource, '--replicas=1')];
    return { cause, text: `${text}: ${what}, which would make them, has 0 replicas`, next };
  }
  if (around.from === 'manifests') {
    return {
      cause: 'no slice',
      text: `the manifests have no EndpointSlice for it: a cluster makes one for the pods of ${what}`,
      next: [kubectlLine(namespace, ...slicesOf(service.name, '-o', 'yaml'))],
    };
  }
  const why = failure === '' ? 'has made none yet' : `cannot make them: ${failure}`;
  const next = [kubectlLine(namespace, 'describe', ...resource)];
  return { cause, text: `${text}: ${what} ${why}`, next };
}

function othersText(selector: Labels, pods: readonly PodThere[], { pods: read }: Surroundings) {
  if ('unknown' in read) return '';
  if (pods.length === 0) return ', which has none';
  const values = pods.flatMap(({ labels }) =>
    Object.keys(selector).flatMap((key) => {
      const value = labels[key];
      return value === undefined ? [] : [`${key}=${value}`];
    }),
  );
  const all = [...new Set(values)];
  const some = all.slice(0, MOST_VALUES);
  return some.length === 0
    ? `; pods there have no label ${Object.keys(selector).join(' or ')}`
    : `; pods there have ${some.join(', ')}${all.length > MOST_VALUES ? ' and others' : ''}`;
}
