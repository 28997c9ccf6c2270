import { normalizeIp } from '../addresses/ip.ts';
import type { SliceEndpoint, SliceObject } from '../cluster/objects.ts';
import type { CompileInput } from './compile.ts';
import { isHere, listedEndpoints, withoutTwins } from './endpoints.ts';
import { healthCheckPortOf, isServed, knownProtocol } from './service-ports.ts';
import { indexSlicePorts } from './slice-ports.ts';

/** Contents of the health check node port of a Service. */
export interface HealthCheck {
  readonly port: number;
  /** Distinct ready addresses of the family on this node, over all ports. */
  readonly localEndpoints: number;
}

export function healthCheckOf(input: CompileInput): HealthCheck | undefined {
  const port = healthCheckPortOf(input.service, input.view);
  if (port === 0 || !isServed(input.service)) return undefined;
  return { port, localEndpoints: countReadyHere(input) };
}

/**
 * Over all ports of the slices, even those that the Service lacks, as in kube-proxy. Only slices
 * with a ready local address are read port by port.
 */
function countReadyHere({ service, slices, family, view }: CompileInput): number {
  const ofFamily = slices.filter(({ addressType }) => addressType === family);
  const isReadyHere = (endpoint: SliceEndpoint) => endpoint.ready && isHere(endpoint, view);
  const wanted = new Set(
    ofFamily.flatMap(({ endpoints }) => endpoints.filter(isReadyHere).map(addressOf)),
  );
  const found = new Set<string>();
  for (const [name, ports] of indexSlicePorts(withAddresses(ofFamily, wanted), family)) {
    // All addresses are counted: further ports add none.
    if (found.size === wanted.size) break;
    const [first = '', port = ''] = name.split(' ', 2);
    const protocol = knownProtocol(first);
    if (protocol === undefined) continue;
    const id = { namespace: service.namespace, service: service.name, port, protocol, family };
    for (const { ready, endpoint } of withoutTwins(listedEndpoints(id, ports, view))) {
      if (ready && endpoint.local) found.add(endpoint.address);
    }
  }
  return found.size;
}

function withAddresses(
  slices: readonly SliceObject[],
  wanted: ReadonlySet<string>,
): readonly SliceObject[] {
  if (wanted.size === 0) return [];
  return slices.map((slice) => ({
    ...slice,
    endpoints: slice.endpoints.filter((endpoint) => wanted.has(addressOf(endpoint))),
  }));
}

function addressOf({ address }: SliceEndpoint): string {
  return normalizeIp(address)?.address ?? address;
}
