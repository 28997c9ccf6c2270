import {
  type Destination,
  type VirtualServer,
  type VirtualServerState,
  virtualServerId,
} from '../../linux/ipvs/model.ts';
import type { CaptureState } from './capture/capture.ts';
import type { CapturedFrontend } from './capture/frontend.ts';
import type { WantedServer } from './wanted.ts';

/** What the kernel has of one virtual server, and of what leads to it. */
export interface ServerState {
  /** Undefined: there is no such virtual server. */
  readonly server: VirtualServer | undefined;
  /** Weights by `destinationId`. */
  readonly destinations: ReadonlyMap<string, number>;
  readonly captured: CapturedFrontend | undefined;
  /** Whether our table says that the virtual server is ours. */
  readonly isListed: boolean;
}

export const NO_SERVER: ServerState = {
  server: undefined,
  destinations: new Map(),
  captured: undefined,
  isListed: false,
};

/** `10.244.1.2 8080`: unique in a virtual server. */
export function destinationId({ address, port }: Pick<Destination, 'address' | 'port'>): string {
  return `${address} ${port}`;
}

export function destinationOf(id: string, weight: number): Destination {
  const [address = '', port = ''] = id.split(' ');
  return { address, port: Number(port), weight };
}

/** The state after it was written, without destinations that drain. */
export function stateOfWanted({ server, endpoints, weight, captured }: WantedServer): ServerState {
  const destinations = new Map(endpoints.map((endpoint) => [destinationId(endpoint), weight]));
  return { server, destinations, captured, isListed: true };
}

/** The state as it was read. */
export function stateFound(
  id: string,
  servers: ReadonlyMap<string, VirtualServerState>,
  capture: CaptureState,
): ServerState {
  const found = servers.get(id);
  return {
    server: found?.server,
    destinations: new Map(found?.destinations.map((each) => [destinationId(each), each.weight])),
    captured: capture.captured.get(id),
    isListed: capture.servers.has(id),
  };
}

export function equalServers(a: VirtualServer | undefined, b: VirtualServer): boolean {
  return (
    a !== undefined &&
    virtualServerId(a) === virtualServerId(b) &&
    a.scheduler === b.scheduler &&
    a.schedulerFlags.join() === b.schedulerFlags.join() &&
    a.persistenceSeconds === b.persistenceSeconds
  );
}

export function equalCaptured(a: CapturedFrontend | undefined, b: CapturedFrontend): boolean {
  return (
    a !== undefined &&
    a.address === b.address &&
    a.port === b.port &&
    a.protocol === b.protocol &&
    a.capture.pod === b.capture.pod &&
    a.capture.host === b.capture.host &&
    a.capture.outside === b.capture.outside
  );
}
