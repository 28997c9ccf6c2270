import type { Endpoint, ServicePortKey } from '../../../forwarding/model.ts';
import type { IpvsWrite, VirtualServer, VirtualServerKey } from '../../../linux/ipvs/ipvs-model.ts';
import type { CapturedFrontend } from './capture/frontend.ts';
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
  /** Whether our table says that it is left to the plane behind. */
  readonly isRejected: boolean;
  /** The machine has the address itself: it gets no packets while there is a virtual server. */
  readonly isOwn?: boolean;
}

/**
 * The writes of one change, in their order. New connections come last and end first: a captured
 * address always has a virtual server with destinations.
 */
export interface ServerPlan {
  readonly id: string;
  readonly row: ServicePortKey;
  readonly change: ServerChange;
  readonly pass?: VirtualServerKey;
  readonly list?: VirtualServerKey;
  readonly writes: readonly IpvsWrite[];
  /** After all of `writes` were accepted: no connection goes to these destinations any more. */
  readonly stops: readonly IpvsWrite[];
  readonly take?: CapturedFrontend;
  readonly retake?: CapturedFrontend;
  readonly unlist?: VirtualServerKey;
  /** From now on it is left to the plane behind, or no longer. */
  readonly reject?: VirtualServerKey;
  readonly accept?: VirtualServerKey;
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
  const { id, before, after, isRejected } = change;
  if (before.isForeign) return planForeign(change);
  const plan = after ? planWanted(change, after) : planRetired(change);
  return isRejected ? { ...plan, accept: keyOfId(id) } : plan;
}

/** IPVS has rejected a part of `of`: the plane behind has the address from now on. */
export function planRejected(before: ServerPlan, rejected: ReadonlySet<IpvsWrite>): ServerPlan {
  const { isRejected, after } = before.change;
  const plan = planRetired({
    ...before.change,
    before: stateAfter(before, rejected),
    after: undefined,
  });
  return isRejected || after === undefined ? plan : { ...plan, reject: keyOfId(before.id) };
}

/** There are no transactions: all writes but the rejected ones were done, and no address was captured. */
function stateAfter(
  { change, ...plan }: ServerPlan,
  rejected: ReadonlySet<IpvsWrite>,
): ServerState {
  const { before } = change;
  const all = new Map(weightsOf(before));
  let { server } = before;
  for (const write of [...plan.writes, ...plan.stops]) {
    if (rejected.has(write)) continue;
    if (write.do === 'add-server' || write.do === 'set-server') server = write.server;
    else if ('destination' in write) {
      const id = destinationId(write.destination);
      if (write.do === 'delete-destination') all.delete(id);
      else all.set(id, write.destination.weight);
    }
  }
  const isListed = before.isListed || plan.list !== undefined;
  const captured = plan.pass ? undefined : before.captured;
  return { ...before, server, endpoints: [], others: all, captured, isListed };
}

export function isEmptyPlan(plan: ServerPlan): boolean {
  return !(
    plan.pass ||
    plan.list ||
    plan.writes.length + plan.stops.length > 0 ||
    plan.take ||
    plan.retake ||
    plan.unlist ||
    plan.reject ||
    plan.accept
  );
}

/** A virtual server of another process is never changed: the plane behind has the address. */
function planForeign(change: ServerChange): ServerPlan {
  const { id, row, before, after, isRejected } = change;
  const key = keyOfId(id);
  return {
    id,
    row,
    change,
    ...(before.captured ? { pass: before.captured } : {}),
    writes: [],
    stops: [],
    ...(after && !isRejected ? { reject: key } : {}),
    ...(!after && isRejected ? { accept: key } : {}),
    drain: undefined,
  };
}

function planWanted(change: ServerChange, after: WantedServer): ServerPlan {
  const { id, row, before } = change;
  const { server, captured } = after;
  const writes: IpvsWrite[] = [];
  if (before.server === undefined) writes.push({ do: 'add-server', server });
  else if (!equalServers(before.server, server)) writes.push({ do: 'set-server', server });
  const unwanted = writeDestinations(before, after, writes);
  const isDrained = after.canDrain && unwanted.size > 0;
  return {
    id,
    row,
    change,
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

function planRetired(change: ServerChange): ServerPlan {
  const { id, row, before, isOwn } = change;
  const { server, captured, isListed } = before;
  const all = weightsOf(before);
  const isGone = server === undefined || isOwn === true;
  return {
    id,
    row,
    change,
    ...(captured ? { pass: captured } : {}),
    ...(isGone || isListed ? {} : { list: server }),
    writes: [],
    stops: server ? retirement(server, all, isGone) : [],
    ...(isGone && isListed ? { unlist: keyOfId(id) } : {}),
    drain: isGone ? undefined : { server, destinations: new Set(all.keys()), isRetired: true },
  };
}

function retirement(
  server: VirtualServerKey,
  weights: ReadonlyMap<string, number>,
  isAtOnce: boolean,
): IpvsWrite[] {
  if (!isAtOnce) return stopsOf(server, weights);
  return [...deletionsOf(server, weights), { do: 'delete-server', server }];
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

interface ChangedEndpoints {
  readonly added: readonly Endpoint[];
  readonly removed: readonly Endpoint[];
}

/**
 * Both are sorted, so a changed endpoint lies between a common beginning and a common end: nothing is
 * allocated for those, of which a large row has tens of thousands.
 */
function changedEndpoints(
  before: readonly Endpoint[],
  after: readonly Endpoint[],
): ChangedEndpoints {
  if (before === after) return { added: [], removed: [] };
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && isSame(before[start], after[start])) start += 1;
  let end = 0;
  while (end < shorter - start && isSame(before.at(-1 - end), after.at(-1 - end))) end += 1;
  const [was, is] = [
    before.slice(start, before.length - end),
    after.slice(start, after.length - end),
  ];
  const [wasIds, isIds] = [new Set(was.map(destinationId)), new Set(is.map(destinationId))];
  return {
    added: is.filter((endpoint) => !wasIds.has(destinationId(endpoint))),
    removed: was.filter((endpoint) => !isIds.has(destinationId(endpoint))),
  };
}

function isSame(a: Endpoint | undefined, b: Endpoint | undefined): boolean {
  return a === b || (a?.address === b?.address && a?.port === b?.port);
}
