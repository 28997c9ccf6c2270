import {
  type DestinationState,
  type IpvsWrite,
  type VirtualServerKey,
  virtualServerId,
} from '../../linux/ipvs/model.ts';
import type { Knowledge } from './knowledge.ts';
import { destinationId } from './server-state.ts';
import { type Kernel, writeInParts } from './writer.ts';

interface Pass {
  readonly writes: IpvsWrite[];
  /** Virtual servers that are gone when `writes` are done. */
  readonly gone: Map<string, VirtualServerKey>;
}

/**
 * Deletes destinations of weight 0 whose last connection has ended, then virtual servers without
 * any, then the mark that they are ours. A deletion that fails is tried again at the next pass.
 */
export async function deleteDrained(kernel: Kernel, knowledge: Knowledge): Promise<void> {
  const { draining } = knowledge;
  if (draining.isEmpty) return;
  const pass: Pass = { writes: [], gone: new Map() };
  const servers = draining.servers();
  const found = await kernel.ipvs.destinationsOf(servers);
  for (const server of servers) {
    planPass(pass, kernel, { id: virtualServerId(server), server, found, knowledge });
  }
  const refused = await kernel.print.during(kernel.ipvs, pass.writes);
  const isRefused = new Set(refused.map(({ write }) => write));
  for (const write of pass.writes) {
    if (isRefused.has(write)) pass.gone.delete(virtualServerId(write.server));
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
  readonly server: VirtualServerKey;
  readonly found: ReadonlyMap<string, readonly DestinationState[]>;
  readonly knowledge: Knowledge;
}

function planPass(pass: Pass, { print }: Kernel, of: Examined): void {
  const { id, server, knowledge } = of;
  const draining = knowledge.draining.at(id);
  if (draining === undefined) return;
  const found = new Map(of.found.get(id)?.map((each) => [destinationId(each), each]));
  const forgotten: string[] = [];
  let left = found.size;
  for (const each of draining.destinations) {
    const state = found.get(each);
    if (state === undefined || state.weight !== 0) forgotten.push(each);
    else if (state.activeConnections + state.inactiveConnections === 0) {
      const { address, port, weight } = state;
      const destination = { address, port, weight };
      pass.writes.push({ do: 'delete-destination', server, destination });
      left -= 1;
    }
  }
  print.noteDeleted(forgotten.filter((each) => !found.has(each)).length);
  knowledge.draining.forget(id, forgotten);
  if (!draining.isRetired || left > 0) return;
  if (of.found.has(id)) pass.writes.push({ do: 'delete-server', server });
  pass.gone.set(id, server);
}
