import type { Family, Forwarding } from '../../forwarding/model.ts';
import { IPTABLES_TABLES, type IptablesTable } from '../../linux/iptables/programs.ts';
import { saveChain, saveTable } from '../../linux/iptables/save.ts';
import type { SavedTable } from '../../linux/iptables/saved-table.ts';
import { SHARED_CHAINS } from './fixed-parts.ts';
import type { KernelView } from './kernel-view.ts';
import { isRowChain } from './names.ts';
import { renderedTables } from './render.ts';
import type { Setting } from './setting.ts';
import type { SuspectChains } from './suspects.ts';

/** The tables as they should be, but for what somebody touched: that is read. */
export async function readSuspects(
  of: { readonly program: string; readonly family: Family; readonly setting: Setting },
  chains: SuspectChains,
  rows: readonly Forwarding[],
): Promise<KernelView> {
  const { program, family } = of;
  const read = await Promise.all(
    [...chains].map(async ([table, names]) => {
      const found = await readChains({ program, family, table }, names);
      return [table, found] as const;
    }),
  );
  const believed = renderedTables(rows, of.setting, family);
  const view: Record<IptablesTable, SavedTable> = { ...believed };
  for (const [table, found] of read) {
    view[table] = found.isWhole ? found.chains : new Map([...believed[table], ...found.chains]);
  }
  return view;
}

/** Whether what was touched can hold anything of a row. */
export function mayConcernRows(chains: SuspectChains): boolean {
  return IPTABLES_TABLES.some((table) => {
    const names = chains.get(table);
    if (names === undefined || table === 'mangle') return false;
    if (names === 'all') return true;
    const isShared = (name: string): boolean =>
      SHARED_CHAINS.some((shared) => shared.table === table && shared.name === name);
    return [...names].some((name) => isShared(name) || (table === 'nat' && isRowChain(name)));
  });
}

async function readChains(
  place: { readonly program: string; readonly family: Family; readonly table: IptablesTable },
  names: ReadonlySet<string> | 'all',
): Promise<{ chains: SavedTable; isWhole: boolean }> {
  const whole = async () => ({ chains: await saveTable(place), isWhole: true });
  if (names === 'all') return await whole();
  const found = await Promise.all([...names].map((chain) => saveChain({ ...place, chain })));
  // One that cannot be read is gone, most likely, and with it others may be.
  if (found.some((chain) => chain === undefined)) return await whole();
  const chains = new Map(found.flatMap((chain) => [...(chain ?? [])]));
  return { chains, isWhole: false };
}
