import { countText } from '../explain-words.ts';
import { type EmptyRow, portText, slicesOf } from './empty-row.ts';
import { kubectlLine } from './kubectl-line.ts';
import {
  knownOf,
  labelsText,
  matches,
  type PortName,
  type ServiceThere,
  type Surroundings,
} from './surroundings.ts';
import type { ZeroReason } from './zero-reason.ts';

type NamedPort = Pick<PortName, 'name' | 'protocol'>;

/** The slices have endpoints, and not the port of this row. `has`: the ports that they have. */
export function portMissing(
  { id, backing }: EmptyRow,
  slices: { readonly endpoints: number; readonly ports: readonly NamedPort[] },
  around: Surroundings,
): ZeroReason {
  const service = knownOf(around.service);
  const index = service?.ports.findIndex(
    ({ name, protocol }) => name === id.port && protocol === id.protocol,
  );
  const target = index === undefined ? undefined : service?.ports[index]?.targetPort;
  const hasSelector = service ? labelsText(service.selector) !== '' : backing?.hasSelector;
  if (service && hasSelector && typeof target === 'string') {
    return targetMissing(service, { index: index ?? 0, target, protocol: id.protocol }, around);
  }
  const have = portsText(slices.ports, id.protocol);
  const text = `its EndpointSlices have ${countText(slices.endpoints, 'endpoint')} with ${have}, and the Service wants ${portText(id.port)}/${id.protocol}`;
  const [only, ...others] = slices.ports.filter(({ protocol }) => protocol === id.protocol);
  const isClear = service && index !== undefined && index >= 0 && others.length === 0;
  const value = isClear && !hasSelector && only && only.name !== '' ? only.name : undefined;
  return {
    cause: 'port not in slices',
    text: hasSelector
      ? `${text}: its pods have no container port with the name that targetPort says`
      : text,
    next: [
      kubectlLine(id.namespace, ...slicesOf(id.service, '-o', 'yaml')),
      ...(value === undefined ? [] : [repair(id, `/spec/ports/${index}/name`, value)]),
    ],
  };
}

/** The port is called by a name that no container port has. */
function targetMissing(
  service: ServiceThere,
  wanted: { readonly index: number; readonly target: string; readonly protocol: string },
  around: Surroundings,
): ZeroReason {
  const { namespace, selector } = service;
  const { index, target, protocol } = wanted;
  const pods = knownOf(around.pods)?.filter(({ labels }) => matches(selector, labels)) ?? [];
  const ports = pods
    .flatMap(({ containers }) => containers.flatMap((each) => each.ports))
    .filter((each) => each.protocol === protocol);
  const names = [...new Set(ports.map(({ name }) => name).filter(Boolean))];
  const numbers = [...new Set(ports.map(({ port }) => port))];
  const has =
    names.length > 0
      ? `its pods have ${names.join(', ')}`
      : numbers.length > 0
        ? `its pods have ${numbers.join(', ')} without a name`
        : 'its pods name none';
  const value = names.length === 1 ? names[0] : numbers.length === 1 ? numbers[0] : undefined;
  const path = `/spec/ports/${index}/targetPort`;
  const owner = { namespace, service: service.name };
  return {
    cause: 'port not in slices',
    text: `targetPort ${target} of ${portText(service.ports[index]?.name ?? '')} is the name of no container port: ${has}`,
    next: [
      kubectlLine(namespace, 'get', 'pods', '-l', labelsText(selector), '-o', PORTS),
      ...(value === undefined ? [] : [repair(owner, path, value)]),
    ],
    ...('unknown' in around.pods ? { notKnown: around.pods.unknown } : {}),
  };
}

const PORTS = 'custom-columns=POD:.metadata.name,PORTS:.spec.containers[*].ports[*].name';

function repair(
  { namespace, service }: { readonly namespace: string; readonly service: string },
  path: string,
  value: string | number,
): string {
  const patch = JSON.stringify([{ op: 'replace', path, value }]);
  const words = ['patch', 'service', service, '--type=json', '-p', patch];
  return kubectlLine(namespace, ...words);
}

function portsText(ports: readonly NamedPort[], protocol: string): string {
  if (ports.length === 0) return 'no port';
  const isOther = ports.some((port) => port.protocol !== protocol);
  return ports
    .map((port) => `${portText(port.name)}${isOther ? `/${port.protocol}` : ''}`)
    .join(', ');
}
