import type { ServiceObject, SliceObject } from '../cluster/objects.ts';
import { type KnownEndpoint, knownEndpoints, listedEndpoints, withoutTwins } from './endpoints.ts';
import type { Endpoint, Family, Forwarding, Frontend, NodeView } from './model.ts';
import { frontendsOf, type Policy, policyOf } from './outcomes.ts';
import { SCHEDULER_ANNOTATION, type SchedulerWish } from './scheduler.ts';
import { select } from './selection.ts';
import {
  healthCheckPortOf,
  type ServicePort,
  servicePorts,
  usesClusterEndpoints,
  usesLocalEndpoints,
} from './service-ports.ts';
import { indexSlicePorts, portName } from './slice-ports.ts';

export interface CompileInput {
  readonly service: ServiceObject;
  readonly slices: readonly SliceObject[];
  readonly family: Family;
  readonly view: NodeView;
}

/** Compiles one Service and its slices into rows of one family. */
export function compile({ service, slices, family, view }: CompileInput): Forwarding[] {
  const ports = servicePorts(service, family, view);
  const known = endpointsByPort(ports, { slices, family, view });
  const healthCheckPort = healthCheckPortOf(service, view);
  return ports.map((port) =>
    forwardingOf(port, { known: known(port), view, healthCheckPort, frontendsOf }),
  );
}

export interface PortInput {
  readonly known: readonly KnownEndpoint[];
  readonly view: NodeView;
  /** 0: none. */
  readonly healthCheckPort: number;
  readonly frontendsOf: (port: ServicePort, policy: Policy) => readonly Frontend[];
}

export function forwardingOf(port: ServicePort, input: PortInput): Forwarding {
  const { known, view, healthCheckPort } = input;
  const need = { cluster: usesClusterEndpoints(port), local: usesLocalEndpoints(port) };
  const selection = select(known, need, view);
  return {
    id: port.id,
    frontends: input.frontendsOf(port, policyOf(port, selection, view)),
    clusterEndpoints: bareEndpoints(selection.cluster),
    localEndpoints: bareEndpoints(selection.local),
    affinitySeconds: port.affinitySeconds,
    ...(port.schedulerWish === undefined ? {} : schedulerOf(port.schedulerWish)),
    ...(healthCheckPort === 0 ? {} : { healthCheckPort }),
  };
}

function schedulerOf(wish: SchedulerWish): Pick<Forwarding, 'scheduler' | 'schedulerFault'> {
  if ('scheduler' in wish) return wish;
  return { schedulerFault: `${SCHEDULER_ANNOTATION}: ${wish.fault}` };
}

function endpointsByPort(
  ports: readonly ServicePort[],
  input: Omit<CompileInput, 'service'>,
): (port: ServicePort) => KnownEndpoint[] {
  const { slices, family, view } = input;
  if (ports.length < 2) return ({ id }) => knownEndpoints(id, slices, view);
  const index = indexSlicePorts(slices, family);
  return ({ id }) => {
    const found = index.get(portName(id.port, id.protocol)) ?? [];
    return withoutTwins(listedEndpoints(id, found, view));
  };
}

const NONE: readonly Endpoint[] = [];

function bareEndpoints(endpoints: readonly KnownEndpoint[]): readonly Endpoint[] {
  return endpoints.length === 0 ? NONE : endpoints.map(({ endpoint }) => endpoint);
}
