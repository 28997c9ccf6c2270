import { type Family, type Forwarding, SOURCE_CLASSES } from '../../../forwarding/model.ts';
import type { IptablesTable } from '../../../linux/xtables/iptables-programs.ts';
import { listRules, saveTable } from '../../../linux/xtables/save.ts';
import type { SavedTable } from '../../../linux/xtables/saved-table.ts';
import { ENDPOINT_CHAIN_PREFIX, isRowChain, rowChainNames } from './chain-names.ts';
import { SHARED_CHAINS } from './iptables-fixed-parts.ts';
import type { SuspectChains } from './iptables-suspects.ts';
import type { KernelView } from './kernel-view.ts';
import { renderedTables } from './render-iptables.ts';
import type { Setting } from './setting.ts';

interface Place {
  readonly program: string;
  readonly family: Family;
}

/** What was read of a table: the reported chains, or all of them. */
interface ReadTable {
  readonly chains: SavedTable;
  readonly names: ReadonlySet<string> | 'all';
}

/**
 * The tables as they should be, except for the reported chains, which are read. `concerned` are the
 * rows that the view has anything of. They are chosen by what was read, which may be a whole table
 * for one changed chain: a comparison with fewer rows would treat the chains of the others as
 * foreign.
 */
export async function readSuspects(
  place: Place & { readonly setting: Setting },
  chains: SuspectChains,
  rows: readonly Forwarding[],
): Promise<{ view: KernelView; concerned: readonly Forwarding[] }> {
  const read = await readReported(place, chains);
  const concerned = concernedRows(new Map(read.map(([table, { names }]) => [table, names])), rows);
  // For rows that are read, only their rules in filter must be assumed.
  const isNatRead = read.some(([table, { names }]) => table === 'nat' && names === 'all');
  const assumedRows = isNatRead ? concerned.filter(mayBeInFilter) : concerned;
  const assumed = renderedTables(assumedRows, place.setting, place.family);
  const view: Record<IptablesTable, SavedTable> = { ...assumed };
  for (const [table, found] of read) {
    const isWhole = found.names === 'all';
    view[table] = isWhole ? found.chains : new Map([...assumed[table], ...found.chains]);
  }
  return { view, concerned };
}

async function readReported(
  { program, family }: Place,
  chains: SuspectChains,
): Promise<(readonly [IptablesTable, ReadTable])[]> {
  return await Promise.all(
    [...chains].map(async ([table, names]) => {
      const found = await readChains({ program, family, table }, names);
      return [table, found] as const;
    }),
  );
}

/** The rows that may have rules in the reported chains: computing the rules of all rows takes long. */
export function concernedRows(
  chains: SuspectChains,
  rows: readonly Forwarding[],
): readonly Forwarding[] {
  const nat = chains.get('nat') ?? NOTHING;
  const isAll = nat === 'all' || [...nat].some((name) => isShared('nat', name) || isOfAny(name));
  if (isAll) return rows;
  const filter = chains.get('filter') ?? NOTHING;
  const isFilter = filter === 'all' || [...filter].some((name) => isShared('filter', name));
  const isOfRow = ({ id }: Forwarding): boolean =>
    Object.values(rowChainNames(id)).some((name) => nat.has(name));
  const hasRowChains = [...nat].some(isRowChain);
  return rows.filter((row) => (isFilter && mayBeInFilter(row)) || (hasRowChains && isOfRow(row)));
}

const NOTHING: ReadonlySet<string> = new Set();

function isShared(table: IptablesTable, name: string): boolean {
  return SHARED_CHAINS.some((shared) => shared.table === table && shared.name === name);
}

/** The name of an endpoint's chain does not show its row. */
function isOfAny(name: string): boolean {
  return name.startsWith(ENDPOINT_CHAIN_PREFIX);
}

/** A row that forwards everything for all clients has its rules in nat. */
function mayBeInFilter({ frontends, healthCheckPort }: Forwarding): boolean {
  if (healthCheckPort !== undefined) return true;
  return frontends.some(
    ({ allowedSources, outcomes }) =>
      allowedSources !== undefined ||
      SOURCE_CLASSES.some((source) => outcomes[source].action !== 'forward'),
  );
}

async function readChains(
  place: Place & { readonly table: IptablesTable },
  names: ReadonlySet<string> | 'all',
): Promise<ReadTable> {
  const whole = async (): Promise<ReadTable> => {
    const chains = (await listRules(place)) ?? (await saveTable(place));
    return { chains, names: 'all' };
  };
  if (names === 'all') return await whole();
  const found = await Promise.all([...names].map((chain) => listRules({ ...place, chain })));
  // One that cannot be read is gone, most likely, and with it others may be.
  if (found.some((chain) => chain === undefined)) return await whole();
  const chains = new Map(found.flatMap((chain) => [...(chain ?? [])]));
  return { chains, names };
}
