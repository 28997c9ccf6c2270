import type { CompileInput } from './compile.ts';
import { knownEndpoints } from './endpoints.ts';
import type { ServicePortId } from './model.ts';
import { healthCheckPortOf, isServed, knownProtocol } from './service-ports.ts';

/** What the health port of a Service tells a load balancer about this node. */
export interface HealthCheck {
  readonly port: number;
  /** Distinct addresses of the family, over all ports, that are ready on this node. */
  readonly localEndpoints: number;
}

export function healthCheckOf(of: CompileInput): HealthCheck | undefined {
  const { service, slices, view } = of;
  const port = healthCheckPortOf(service);
  if (port === 0 || !isServed(service)) return undefined;
  const addresses = new Set<string>();
  for (const id of portsOfSlices(of)) {
    for (const endpoint of knownEndpoints(id, slices, view)) {
      if (endpoint.ready && endpoint.local) addresses.add(endpoint.address);
    }
  }
  return { port, localEndpoints: addresses.size };
}

/** Every port that the slices have, also one that the Service has not, as in kube-proxy. */
function portsOfSlices({ service, slices, family }: CompileInput): ServicePortId[] {
  const ids = new Map<string, ServicePortId>();
  for (const { name, protocol } of slices.flatMap((slice) => slice.ports)) {
    const known = knownProtocol(protocol);
    if (known === undefined) continue;
    const { namespace, name: serviceName } = service;
    const id = { namespace, service: serviceName, port: name, protocol: known, family };
    ids.set(`${name}/${protocol}`, id);
  }
  return [...ids.values()];
}
