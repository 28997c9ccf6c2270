import { toEnd } from '../../forwarding/turns.ts';
import type { NftConnection } from '../../linux/nftables/nft-connection.ts';
import type { Difference } from '../contract.ts';
import { Differences } from '../differences.ts';
import { emptyView, readView } from './element-view.ts';
import { TABLE_FAMILIES, TABLE_OF_FAMILY } from './nftables-chains.ts';
import { Comparison } from './nftables-comparison.ts';
import {
  isBeyondRepair,
  NO_FIXED_PARTS,
  readFixedParts,
  repairFixedParts,
  storedClasses,
  uniqueClasses,
} from './nftables-fixed-parts.ts';
import { newRowNumbers } from './row-numbers.ts';
import type { DesiredTables } from './table-facts.ts';

/** What an inspection would find. The changes it would write are computed and discarded. */
export async function diffTables(
  connection: NftConnection,
  desired: DesiredTables,
): Promise<readonly Difference[]> {
  const numbers = newRowNumbers();
  const differences = Differences.ofAll();
  for (const family of TABLE_FAMILIES) {
    const found = await readFixedParts(connection, family);
    const isOther = isBeyondRepair(found, desired.facts, family);
    if (isOther) differences.add(() => ({ kind: 'different', object: `table ${family} fairlead` }));
    const stored = isOther ? NO_FIXED_PARTS : found;
    const view = isOther ? emptyView() : await readView(connection, family);
    const comparison = new Comparison({ family, view, numbers, orders: new Map(), differences });
    for (const row of desired.rows) {
      if (TABLE_OF_FAMILY[row.id.family] === family) toEnd(comparison.compare(row));
    }
    comparison.noteLeftovers();
    const classes = uniqueClasses([...storedClasses(stored), ...comparison.classes]);
    const wanted = { facts: desired.facts, classes };
    repairFixedParts(connection.begin(), { family, stored, wanted, differences });
  }
  return differences.described;
}
