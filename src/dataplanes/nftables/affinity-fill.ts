import type { ServicePortKey } from '../../forwarding/model.ts';
import type { NftConnection } from '../../linux/nftables/nft-connection.ts';
import type { TableFamily } from '../../linux/nftables/nftables-protocol.ts';
import type { AffinityFill } from '../contract.ts';
import { hostNumberOf } from '../shared/nft/element-text.ts';
import { rowOfGroup } from './groups.ts';
import { TABLE_FAMILIES } from './nftables-chains.ts';
import { ownersOf } from './nftables-counters.ts';
import { MOST_CLIENTS, MOST_CLIENTS_OF_A_LIST, TABLES } from './nftables-sets.ts';

const LIST_BYTES = 4;
/** Entries that a list may add at once: with this many it is likely at its limit. */
const LIKELY_FULL = MOST_CLIENTS_OF_A_LIST / 2;

/**
 * How many clients have an affinity entry. Their Services are only read when there are so many that one
 * list may have used up its quota: reading 260,000 of them takes about half a second.
 */
export async function readAffinityFill(connection: NftConnection): Promise<AffinityFill> {
  let remembered = 0;
  const full: ServicePortKey[] = [];
  for (const family of TABLE_FAMILIES) {
    const sets = await connection.sets(TABLES[family]);
    const count = sets.find(({ name }) => name === 'clients')?.count;
    if (count !== undefined && count < LIKELY_FULL) {
      remembered += count;
      continue;
    }
    const byRow = await clientsByRow(connection, family);
    for (const clients of byRow.values()) remembered += clients;
    full.push(...(await fullRows(connection, family, byRow)));
  }
  return { remembered, room: MOST_CLIENTS * TABLE_FAMILIES.length, full: full.sort() };
}

async function clientsByRow(
  connection: NftConnection,
  family: TableFamily,
): Promise<ReadonlyMap<number, number>> {
  const byRow = new Map<number, number>();
  await connection.elements(TABLES[family], 'clients', ({ key }) => {
    const row = rowOfGroup(hostNumberOf(key.slice(0, LIST_BYTES)));
    byRow.set(row, (byRow.get(row) ?? 0) + 1);
  });
  return byRow;
}

async function fullRows(
  connection: NftConnection,
  family: TableFamily,
  byRow: ReadonlyMap<number, number>,
): Promise<ServicePortKey[]> {
  const rows = [...byRow].filter(([, clients]) => clients >= LIKELY_FULL);
  if (rows.length === 0) return [];
  const owners = await ownersOf(connection, family);
  return rows.flatMap(([row]) => owners.get(row) ?? []);
}
