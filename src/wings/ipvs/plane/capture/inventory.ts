import type { Holding } from '../../../../dataplanes/contract.ts';
import type { NftConnection } from '../../../../linux/nftables/nft-connection.ts';
import { readStructure } from './capture-fixed-parts.ts';
import { TABLE_FAMILIES, TABLES } from './capture-sets.ts';
import { readRouting } from './routing.ts';

/** How much `remove` would delete. */
export async function readInventory(connection: NftConnection): Promise<readonly Holding[]> {
  const counts = { tables: 0, chains: 0, rules: 0, sets: 0, addresses: 0 };
  for (const family of TABLE_FAMILIES) {
    const { chains, rules, sets } = await readStructure(connection, family);
    if (chains.length + sets.length > 0) counts.tables += 1;
    counts.chains += chains.length;
    counts.rules += rules.length;
    counts.sets += sets.length;
    await connection.elements(TABLES[family], 'captured', () => {
      counts.addresses += 1;
    });
  }
  const routing = await readRouting();
  const holdings: readonly Holding[] = [
    ...Object.entries(counts).map(([what, count]) => ({ what: what as Holding['what'], count })),
    { what: 'routes', count: routing.routes.length },
    { what: 'routing rules', count: routing.rules.length },
  ];
  return holdings.filter(({ count }) => count > 0);
}
