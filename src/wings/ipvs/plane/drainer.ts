import {
  type DestinationState,
  type IpvsWrite,
  type VirtualServerKey,
  virtualServerId,
} from '../../../linux/ipvs/ipvs-model.ts';
import type { Draining } from './draining.ts';
import type { Knowledge } from './ipvs-knowledge.ts';
import { asPlaneError } from './ipvs-rejection.ts';
import { type Kernel, writeInParts } from './ipvs-writer.ts';
import { destinationId } from './server-state.ts';

/** Virtual servers that are read before what has drained of them is deleted. */
const SERVERS_AT_ONCE = 100;

interface Pass {
  readonly writes: IpvsWrite[];
  /** Virtual servers that are gone when `writes` are done. */
  readonly gone: Map<string, VirtualServerKey>;
}

export interface Drainer {
  readonly kernel: Kernel;
  readonly knowledge: Knowledge;
  /** Runs it while nothing else is written. */
  readonly turn: (work: () => Promise<void>) => Promise<void>;
}

/**
 * Deletes destinations of weight 0 whose last connection has ended, then virtual servers without
 * any, then the mark that they are ours. A deletion that fails is tried again at the next pass.
 *
 * Reads beside the calls of the contract, which would wait otherwise: a destination without a
 * connection gets none while it drains.
 */
export async function deleteDrained({ kernel, knowledge, turn }: Drainer): Promise<void> {
  const all = knowledge.draining.entries();
  for (let from = 0; from < all.length; from += SERVERS_AT_ONCE) {
    const some = new Map(all.slice(from, from + SERVERS_AT_ONCE));
    const found = await destinationsOf(kernel, some);
    await turn(() => deleteFound(kernel, knowledge, { some, found }));
  }
}

type Destinations = ReadonlyMap<string, readonly DestinationState[]>;

interface Read {
  readonly some: ReadonlyMap<string, Draining>;
  readonly found: Destinations;
}

async function destinationsOf({ ipvs }: Kernel, servers: Read['some']): Promise<Destinations> {
  try {
    return await ipvs.destinationsOf([...servers.values()].map(({ server }) => server));
  } catch (error) {
    throw asPlaneError(error);
  }
}

async function deleteFound(
  kernel: Kernel,
  { draining }: Knowledge,
  { some, found }: Read,
): Promise<void> {
  const pass: Pass = { writes: [], gone: new Map() };
  for (const [id, each] of some) {
    // Else it was written meanwhile, and may have drained, served and drained since it was read.
    if (draining.at(id) !== each) continue;
    const forgotten = planPass(pass, kernel, { id, draining: each, found: found.get(id) });
    draining.forget(id, forgotten);
  }
  const rejected = await kernel.print.during(kernel.ipvs, pass.writes);
  const isRejected = new Set(rejected.map(({ write }) => write));
  for (const write of pass.writes) {
    if (isRejected.has(write)) pass.gone.delete(virtualServerId(write.server));
    else if (write.do === 'delete-destination') {
      draining.forget(virtualServerId(write.server), [destinationId(write.destination)]);
    }
  }
  const unlisted = [...pass.gone.values()];
  await writeInParts(
    kernel.capture,
    unlisted.map((server) => ({ serversDelete: [server] })),
  );
  for (const id of pass.gone.keys()) draining.set(id, undefined);
}

interface Examined {
  readonly id: string;
  readonly draining: Draining;
  /** Undefined: the virtual server is gone. */
  readonly found: readonly DestinationState[] | undefined;
}

/** Gives destinations that are gone, or serve again. */
function planPass(pass: Pass, { print }: Kernel, examined: Examined): readonly string[] {
  const { id, draining } = examined;
  const { server } = draining;
  const found = new Map(examined.found?.map((each) => [destinationId(each), each]));
  const forgotten: string[] = [];
  let left = found.size;
  for (const each of draining.destinations) {
    const state = found.get(each);
    if (state === undefined) forgotten.push(each);
    else if (state.weight !== 0) {
      // No row wants the server: the write that stops it was rejected.
      if (draining.isRetired) pass.writes.push(stopOf(server, state));
      else forgotten.push(each);
    } else if (state.activeConnections + state.inactiveConnections === 0) {
      const { address, port, weight } = state;
      const destination = { address, port, weight };
      pass.writes.push({ do: 'delete-destination', server, destination });
      left -= 1;
    }
  }
  print.noteDeleted(forgotten.filter((each) => !found.has(each)).length);
  if (!draining.isRetired || left > 0) return forgotten;
  if (examined.found !== undefined) pass.writes.push({ do: 'delete-server', server });
  pass.gone.set(id, server);
  return forgotten;
}

function stopOf(server: VirtualServerKey, { address, port }: DestinationState): IpvsWrite {
  return { do: 'set-destination', server, destination: { address, port, weight: 0 } };
}
