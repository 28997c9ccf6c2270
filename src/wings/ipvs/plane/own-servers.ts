import { withIpvs } from '../../../linux/ipvs/errors.ts';
import type { Ipvs, VirtualServerKey } from '../../../linux/ipvs/model.ts';
import { isMarked } from '../../../linux/ipvs/service-flags.ts';
import type { CaptureTables } from './capture/model.ts';

/**
 * Virtual servers of ours by id: those in our tables and those with our mark, which outlive a flush of
 * all tables. Does not load IPVS: where it is not loaded there are none.
 */
export async function ownServers(parts: {
  readonly ipvs: Ipvs;
  readonly capture: Pick<CaptureTables, 'read'>;
}): Promise<ReadonlyMap<string, VirtualServerKey>> {
  const own = new Map((await parts.capture.read()).servers);
  for (const [id, server] of await markedServers(parts.ipvs)) own.set(id, server);
  return own;
}

async function markedServers(
  ipvs: Ipvs,
): Promise<readonly (readonly [string, VirtualServerKey])[]> {
  // Reads a file that is there while IPVS is loaded. A question by netlink would load it.
  const isLoaded = await withIpvs(async () => Boolean(await ipvs.fingerprint('begin')), false);
  if (!isLoaded) return [];
  const all = [...(await ipvs.read())];
  return all.flatMap(([id, { server }]) => (isMarked(server) ? [[id, server] as const] : []));
}
