import type { ServicePortKey } from '../../forwarding/model.ts';
import type { IpvsWrite, VirtualServer, VirtualServerKey } from '../../linux/ipvs/model.ts';
import type { CapturedFrontend } from './capture/frontend.ts';
import { changedEndpoints } from './changed-endpoints.ts';
import {
  destinationId,
  destinationOf,
  equalCaptured,
  equalServers,
  keyOfId,
  type ServerState,
} from './server-state.ts';
import type { WantedServer } from './wanted.ts';

/** The change of one virtual server. */
export interface ServerChange {
  readonly id: string;
  /** The row that it is done for. */
  readonly row: ServicePortKey;
  readonly before: ServerState;
  readonly after: WantedServer | undefined;
}

/**
 * The writes of one change, in their order. New connections come last and end first: a captured
 * address always has a virtual server with destinations.
 */
export interface ServerPlan {
  readonly id: string;
  readonly row: ServicePortKey;
  readonly pass?: VirtualServerKey;
  readonly list?: VirtualServerKey;
  readonly writes: readonly IpvsWrite[];
  /** After all of `writes` were accepted: no connection goes to these destinations any more. */
  readonly stops: readonly IpvsWrite[];
  readonly take?: CapturedFrontend;
  readonly retake?: CapturedFrontend;
  readonly unlist?: VirtualServerKey;
  readonly drain: Drain | undefined;
}

/** What drains after the change; undefined in a plan: nothing does. */
export interface Drain {
  readonly server: VirtualServer;
  /** By `destinationId`. */
  readonly destinations: ReadonlySet<string>;
  /** The virtual server goes with its last destination. */
  readonly isRetired: boolean;
}

export function planServer(change: ServerChange): ServerPlan {
  return change.after ? planWanted(change, change.after) : planRetired(change);
}

export function isEmptyPlan(plan: ServerPlan): boolean {
  return !(
    plan.pass ||
    plan.list ||
    plan.writes.length + plan.stops.length > 0 ||
    plan.take ||
    plan.retake ||
    plan.unlist
  );
}

function planWanted({ id, row, before }: ServerChange, after: WantedServer): ServerPlan {
  const { server, captured } = after;
  const writes: IpvsWrite[] = [];
  if (before.server === undefined) writes.push({ do: 'add-server', server });
  else if (!equalServers(before.server, server)) writes.push({ do: 'set-server', server });
  const unwanted = writeDestinations(before, after, writes);
  const isDrained = after.canDrain && unwanted.size > 0;
  return {
    id,
    row,
    ...(before.isListed ? {} : { list: server }),
    writes,
    stops: after.canDrain ? stopsOf(server, unwanted) : deletionsOf(server, unwanted),
    ...(before.captured === undefined ? { take: captured } : {}),
    ...(before.captured && !equalCaptured(before.captured, captured) ? { retake: captured } : {}),
    drain: isDrained
      ? { server, destinations: new Set(unwanted.keys()), isRetired: false }
      : undefined,
  };
}

/** Gives the weights of destinations that are not wanted. */
function writeDestinations(
  before: ServerState,
  { server, endpoints, weight }: WantedServer,
  writes: IpvsWrite[],
): ReadonlyMap<string, number> {
  const isSameWeight = before.weight === weight;
  const others = isSameWeight ? before.others : weightsOf(before);
  const { added, removed } = changedEndpoints(isSameWeight ? before.endpoints : [], endpoints);
  const addedIds = new Set<string>();
  for (const endpoint of added) {
    const id = destinationId(endpoint);
    addedIds.add(id);
    const found = others.get(id);
    if (found === weight) continue;
    const { address, port } = endpoint;
    const act = found === undefined ? 'add-destination' : 'set-destination';
    writes.push({ do: act, server, destination: { address, port, weight } });
  }
  const unwanted = new Map(removed.map((endpoint) => [destinationId(endpoint), before.weight]));
  for (const [id, found] of others) if (!addedIds.has(id)) unwanted.set(id, found);
  return unwanted;
}

function planRetired({ id, row, before }: ServerChange): ServerPlan {
  const { server, captured, isListed } = before;
  const key = server ?? captured;
  const all = weightsOf(before);
  return {
    id,
    row,
    ...(captured ? { pass: captured } : {}),
    writes: [],
    stops: server ? stopsOf(server, all) : [],
    ...(isListed && server === undefined ? { unlist: key ?? keyOfId(id) } : {}),
    drain: server && { server, destinations: new Set(all.keys()), isRetired: true },
  };
}

/** A destination of weight 0 keeps its connections and gets no new ones. */
function stopsOf(server: VirtualServerKey, weights: ReadonlyMap<string, number>): IpvsWrite[] {
  const serving = [...weights].filter(([, weight]) => weight !== 0);
  return serving.map(([id]) => ({
    do: 'set-destination',
    server,
    destination: destinationOf(id, 0),
  }));
}

function deletionsOf(server: VirtualServerKey, weights: ReadonlyMap<string, number>): IpvsWrite[] {
  return [...weights].map(([id, weight]) => ({
    do: 'delete-destination',
    server,
    destination: destinationOf(id, weight),
  }));
}

function weightsOf({ endpoints, weight, others }: ServerState): ReadonlyMap<string, number> {
  if (endpoints.length === 0) return others;
  const all = new Map(others);
  for (const endpoint of endpoints) all.set(destinationId(endpoint), weight);
  return all;
}
