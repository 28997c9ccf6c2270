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
  type WantedPort,
} from './surroundings.ts';
import type { ZeroReason } from './zero-reason.ts';

type NamedPort = Pick<PortName, 'name' | 'protocol'>;

/** The slices have endpoints, and not the port of this row. */
export function portMissing(
  { id, backing }: EmptyRow,
  slices: { readonly endpoints: number; readonly ports: readonly NamedPort[] },
  around: Surroundings,
): ZeroReason {
  const service = knownOf(around.service);
  const wanted = service?.ports.find(
    ({ name, protocol }) => name === id.port && protocol === id.protocol,
  );
  const hasSelector = service ? labelsText(service.selector) !== '' : backing?.hasSelector;
  const missing =
    service && wanted && hasSelector ? targetMissing(service, wanted, around) : undefined;
  if (missing !== undefined) return missing;
  const have = portsText(slices.ports, id.protocol);
  const isByTarget =
    hasSelector && typeof wanted?.targetPort !== 'number' && 'unknown' in around.pods;
  const [only, ...others] = slices.ports.filter(({ protocol }) => protocol === id.protocol);
  const isClear = service && wanted && !hasSelector && others.length === 0;
  const name = isClear && only && only.name !== '' ? only.name : undefined;
  return {
    cause: 'port not in slices',
    text: [
      `its EndpointSlices have ${countText(slices.endpoints, 'endpoint')} with ${have}, and the Service wants ${portText(id.port)}/${id.protocol}`,
      ...(isByTarget ? ['its pods have no container port with the name that targetPort says'] : []),
    ].join(': '),
    next: [
      kubectlLine(id.namespace, ...slicesOf(id.service, '-o', 'yaml')),
      ...(service && wanted && name !== undefined ? [repair(service, wanted, { name })] : []),
    ],
  };
}

/** The port is called by a name that no container port has; undefined: that is not the reason. */
function targetMissing(
  service: ServiceThere,
  wanted: WantedPort,
  around: Surroundings,
): ZeroReason | undefined {
  const { namespace, selector } = service;
  const { targetPort, protocol, name } = wanted;
  const pods = knownOf(around.pods)?.filter(({ labels }) => matches(selector, labels)) ?? [];
  const ports = pods
    .flatMap(({ containers }) => containers.flatMap((each) => each.ports))
    .filter((each) => each.protocol === protocol);
  const names = [...new Set(ports.map((port) => port.name).filter(Boolean))];
  if (typeof targetPort !== 'string' || pods.length === 0 || names.includes(targetPort)) {
    return undefined;
  }
  const numbers = [...new Set(ports.map(({ port }) => port))];
  const value = names.length === 1 ? names[0] : numbers.length === 1 ? numbers[0] : undefined;
  return {
    cause: 'port not in slices',
    text: `targetPort ${targetPort} of ${portText(name)} is the name of no container port: its pods have ${containerPorts(names, numbers)}`,
    next: [
      kubectlLine(namespace, 'get', 'pods', '-l', labelsText(selector), '-o', CONTAINER_PORTS),
      ...(value === undefined ? [] : [repair(service, wanted, { targetPort: value })]),
    ],
  };
}

const CONTAINER_PORTS = 'jsonpath={.items[*].spec.containers[*].ports}';

function containerPorts(names: readonly string[], numbers: readonly number[]): string {
  if (names.length > 0) return names.join(', ');
  return numbers.length > 0 ? `${numbers.join(', ')} without a name` : 'none';
}

function repair(
  { namespace, name, ports }: ServiceThere,
  wanted: WantedPort,
  change: { readonly name: string } | { readonly targetPort: string | number },
): string {
  const { port } = wanted;
  const words = ['patch', 'service', name];
  if (ports.filter((each) => each.port === port).length === 1) {
    const patch = JSON.stringify({ spec: { ports: [{ port, ...change }] } });
    return kubectlLine(namespace, ...words, '-p', patch);
  }
  // The API merges ports by their number: of two with the same one it would change the first.
  const place = `/spec/ports/${ports.indexOf(wanted)}`;
  const steps = Object.entries(change).map(([field, value]) => ({
    op: 'replace',
    path: `${place}/${field}`,
    value,
  }));
  return kubectlLine(namespace, ...words, '--type=json', '-p', JSON.stringify(steps));
}

function portsText(ports: readonly NamedPort[], protocol: string): string {
  if (ports.length === 0) return 'no port';
  const isOther = ports.some((port) => port.protocol !== protocol);
  return ports
    .map((port) => `${portText(port.name)}${isOther ? `/${port.protocol}` : ''}`)
    .join(', ');
}
