import type { Family } from '../../../forwarding/model.ts';
import { IPTABLES_TABLES, type IptablesTable } from '../../../linux/xtables/iptables-programs.ts';
import { saveTable } from '../../../linux/xtables/save.ts';
import type { SavedTable } from '../../../linux/xtables/saved-table.ts';

/** The tables of one family as they were read. */
export type KernelView = Readonly<Record<IptablesTable, SavedTable>>;

export async function readKernel(program: string, family: Family): Promise<KernelView> {
  const tables = await Promise.all(
    IPTABLES_TABLES.map(async (table) => [table, await saveTable({ program, family, table })]),
  );
  return Object.fromEntries(tables) as KernelView;
}
