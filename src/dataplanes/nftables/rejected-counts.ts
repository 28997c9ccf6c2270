import type { NftConnection } from '../../linux/nftables/nft-connection.ts';
import type { TableFamily } from '../../linux/nftables/nftables-protocol.ts';
import type { RejectedCount } from '../contract.ts';
import { FAMILY_OF_TABLE, TABLE_FAMILIES } from './nftables-chains.ts';
import { protocolOf } from './nftables-counters.ts';
import { TABLES } from './nftables-sets.ts';

const REJECTING_SETS = [
  { set: 'reject-services', like: 'frontends', verdict: 'rejected' },
  { set: 'reject-nodeports', like: 'node-ports', verdict: 'rejected' },
  { set: 'drop-services', like: 'frontends', verdict: 'dropped' },
  { set: 'drop-nodeports', like: 'node-ports', verdict: 'dropped' },
  { set: 'limited-services', like: 'frontends', verdict: 'outsideRanges' },
] as const;

/**
 * Packets that each service port rejected and dropped, of all its frontends. Only Services without an
 * endpoint, or with source ranges, have such elements. Undefined: the sets are of an earlier version, which did not count.
 */
export async function readRejected(
  connection: NftConnection,
): Promise<readonly RejectedCount[] | undefined> {
  const counts = new Map<string, RejectedCount>();
  for (const family of TABLE_FAMILIES) {
    if (!(await areCounted(connection, family))) return undefined;
    for (const { set, like, verdict } of REJECTING_SETS) {
      await connection.elements(TABLES[family], set, ({ key, comment = '', packets }) => {
        const protocol = protocolOf(family, like, key);
        const service = `${comment}/${protocol}/${FAMILY_OF_TABLE[family]}`;
        const known = counts.get(service) ?? { service, rejected: 0, dropped: 0 };
        counts.set(service, { ...known, [verdict]: (known[verdict] ?? 0) + packets });
      });
    }
  }
  return [...counts.values()];
}

/** A set keeps its shape for as long as its table. */
async function areCounted(connection: NftConnection, family: TableFamily): Promise<boolean> {
  const names: readonly string[] = REJECTING_SETS.map(({ set }) => set);
  const sets = (await connection.sets(TABLES[family])).filter(({ name }) => names.includes(name));
  return sets.every(({ hasCounters }) => hasCounters);
}
