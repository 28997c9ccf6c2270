import type { Endpoint } from '../../../forwarding/model.ts';
import type {
  Destination,
  VirtualServer,
  VirtualServerKey,
  VirtualServerState,
} from '../../../linux/ipvs/ipvs-model.ts';
import { isMarked } from '../../../linux/ipvs/service-flags.ts';
import type { CaptureElements } from './capture/capture-model.ts';
import type { CapturedFrontend } from './capture/frontend.ts';
import type { WantedServer } from './wanted.ts';

/** What the kernel has of one virtual server, and of what leads to it. */
export interface ServerState {
  /** Undefined: there is no such virtual server. */
  readonly server: VirtualServer | undefined;
  /** Destinations of weight `weight`, where the row is known that they are of. */
  readonly endpoints: readonly Endpoint[];
  readonly weight: number;
  /** Weights of all other destinations, by `destinationId`. */
  readonly others: ReadonlyMap<string, number>;
  readonly captured: CapturedFrontend | undefined;
  /** Whether our table says that the virtual server is ours. */
  readonly isListed: boolean;
  /** Another process has a virtual server there, of which nothing is said here. */
  readonly isForeign: boolean;
}

export const NO_SERVER: ServerState = {
  server: undefined,
  endpoints: [],
  weight: 0,
  others: new Map(),
  captured: undefined,
  isListed: false,
  isForeign: false,
};

export const FOREIGN_SERVER: ServerState = { ...NO_SERVER, isForeign: true };

/** `10.244.1.2 8080`: unique in a virtual server. */
export function destinationId({ address, port }: Pick<Destination, 'address' | 'port'>): string {
  return `${address} ${port}`;
}

export function destinationOf(id: string, weight: number): Destination {
  const [address = '', port = ''] = id.split(' ');
  return { address, port: Number(port), weight };
}

/** The inverse of `virtualServerId`. */
export function keyOfId(id: string): VirtualServerKey {
  const [address = '', protocol = '', port = ''] = id.split(' ');
  return { address, protocol: protocol as VirtualServerKey['protocol'], port: Number(port) };
}

/** As it was written for a row, beside destinations that drain. */
export function stateWritten(
  { server, endpoints, weight, captured }: WantedServer,
  draining: Iterable<string> = [],
): ServerState {
  const others = new Map([...draining].map((id) => [id, 0]));
  return { server, endpoints, weight, others, captured, isListed: true, isForeign: false };
}

/** Everything that the kernel has. */
export interface Found {
  readonly servers: ReadonlyMap<string, VirtualServerState>;
  readonly elements: CaptureElements;
}

/**
 * As it was read. `isKnown`: virtual servers that were ours before, and are still where another process
 * has deleted the table that says so, or has replaced the one with our mark.
 */
export function stateFound(
  id: string,
  { servers, elements }: Found,
  isKnown: (id: string) => boolean,
): ServerState {
  const found = servers.get(id);
  const isListed = elements.servers.has(id);
  const captured = elements.captured.get(id);
  const isOurs = isListed || isKnown(id) || (found !== undefined && isMarked(found.server));
  if (found !== undefined && !isOurs) return { ...FOREIGN_SERVER, captured };
  return {
    ...NO_SERVER,
    server: found?.server,
    others: new Map(found?.destinations.map((each) => [destinationId(each), each.weight])),
    captured,
    isListed,
  };
}

export function equalServers(a: VirtualServer, b: VirtualServer): boolean {
  return (
    a.scheduler === b.scheduler &&
    a.schedulerFlags.join() === b.schedulerFlags.join() &&
    a.persistenceSeconds === b.persistenceSeconds
  );
}

export function equalCaptured(a: CapturedFrontend, b: CapturedFrontend): boolean {
  return (
    a.capture.pod === b.capture.pod &&
    a.capture.host === b.capture.host &&
    a.capture.outside === b.capture.outside
  );
}
