import type { Family } from '../../forwarding/model.ts';
import { countText } from '../explain-words.ts';
import { SERVICE_LABEL, slicesOf } from './empty-row.ts';
import { kubectlLine } from './kubectl-line.ts';
import { knownOf, type SliceThere, type Surroundings } from './surroundings.ts';
import type { ZeroReason } from './zero-reason.ts';

interface Asked {
  readonly namespace: string;
  readonly service: string;
  readonly family: Family;
}

/** Without a selector nobody but its maker gives a Service endpoints. */
export function noSlice(asked: Asked, around: Surroundings): ZeroReason {
  const { namespace, service, family } = asked;
  const legacy = knownOf(around.legacyEndpoints);
  const list = kubectlLine(namespace, 'get', 'endpointslices', '--show-labels');
  if (legacy !== undefined && legacy > 0) {
    const mirrored =
      around.from === 'cluster'
        ? ', and the cluster mirrors it to none (see its label endpointslice.kubernetes.io/skip-mirror)'
        : '';
    return {
      cause: 'endpoints object only',
      text: `it has no selector and no EndpointSlice: its Endpoints object has ${legacy === 1 ? 'an address' : `${legacy} addresses`}, which no proxy reads${mirrored}`,
      next: [kubectlLine(namespace, 'get', 'endpoints', service, '--show-labels')],
    };
  }
  const all = knownOf(around.slices) ?? [];
  const own = all.filter((slice) => slice.service === service);
  const others = own.filter((slice) => slice.family !== family && slice.addresses.length > 0);
  if (others.length > 0) {
    const families = [...new Set(others.map((slice) => slice.family))];
    return {
      cause: 'no slice',
      text: `its EndpointSlices have ${families.join(' and ')} endpoints only`,
      next: [kubectlLine(namespace, ...slicesOf(service))],
    };
  }
  const [empty] = own;
  if (empty !== undefined) {
    return {
      cause: 'no slice',
      text: `it has no selector, and its EndpointSlice ${empty.name} has no endpoints: without a selector Kubernetes adds none`,
      next: [kubectlLine(namespace, ...slicesOf(service, '-o', 'yaml'))],
    };
  }
  const other = all.find(({ name }) => name === service || name.startsWith(`${service}-`));
  if (other !== undefined) return ofAnother(asked, other);
  return {
    cause: 'no slice',
    text: `it has no selector, and no EndpointSlice is labelled ${SERVICE_LABEL}=${service}: without a selector Kubernetes makes none`,
    next: [list],
    ...('unknown' in around.slices ? { notKnown: around.slices.unknown } : {}),
  };
}

/** A slice that would do, and says that it belongs to another Service. */
export function ofAnother(
  { namespace, service }: Pick<Asked, 'namespace' | 'service'>,
  { name, service: labelled, addresses }: SliceThere,
): ZeroReason {
  const of = labelled === '' ? 'for no Service' : `for Service ${labelled}, not ${service}`;
  const label = `${SERVICE_LABEL}=${service}`;
  return {
    cause: 'slice of another service',
    text: `EndpointSlice ${name} (${countText(addresses.length, 'endpoint')}) is labelled ${of}`,
    next: [
      kubectlLine(namespace, 'get', 'endpointslice', name, '--show-labels'),
      kubectlLine(namespace, 'label', 'endpointslice', name, '--overwrite', label),
    ],
  };
}
