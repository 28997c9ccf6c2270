import type { ServiceObject, SliceObject } from '../cluster/objects.ts';
import { type KnownEndpoint, knownEndpoints } from './endpoints.ts';
import type { Endpoint, Family, Forwarding, NodeView } from './model.ts';
import { frontendsOf } from './outcomes.ts';
import { select } from './selection.ts';
import {
  healthCheckPortOf,
  servicePorts,
  usesClusterEndpoints,
  usesLocalEndpoints,
} from './service-ports.ts';

export interface CompileInput {
  readonly service: ServiceObject;
  readonly slices: readonly SliceObject[];
  readonly family: Family;
  readonly view: NodeView;
}

/** From objects to what this node should do: the whole way, for one Service and one family. */
export function compile({ service, slices, family, view }: CompileInput): Forwarding[] {
  const healthCheckPort = healthCheckPortOf(service);
  return servicePorts(service, family, view).map((port) => {
    const known = knownEndpoints(port.id, slices, view);
    const need = { cluster: usesClusterEndpoints(port), local: usesLocalEndpoints(port) };
    const selection = select(known, need, view);
    return {
      id: port.id,
      frontends: frontendsOf(port, selection, view),
      clusterEndpoints: bareEndpoints(selection.cluster),
      localEndpoints: bareEndpoints(selection.local),
      affinitySeconds: port.affinitySeconds,
      ...(healthCheckPort === 0 ? {} : { healthCheckPort }),
    };
  });
}

const NONE: readonly Endpoint[] = [];

function bareEndpoints(endpoints: readonly KnownEndpoint[]): readonly Endpoint[] {
  if (endpoints.length === 0) return NONE;
  return endpoints.map(({ address, port, local }) => ({ address, port, local }));
}
