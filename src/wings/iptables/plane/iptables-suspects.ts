import type { Family } from '../../../forwarding/model.ts';
import type { NftEvent } from '../../../linux/nftables/nftables-events.ts';
import { IPTABLES_TABLES, type IptablesTable } from '../../../linux/xtables/iptables-programs.ts';

/** Chains that another process changed, by table; `all`: too many of them, or the table was deleted. */
export type SuspectChains = ReadonlyMap<IptablesTable, ReadonlySet<string> | 'all'>;

/** Reading one chain costs a process; beyond this many the whole table is cheaper. */
const MOST_SINGLE_CHAINS = 4;
const NO_CHAINS: SuspectChains = new Map();

/** What other processes have changed since the last inspection; events name only the chain. */
export class Suspects {
  readonly #chains = new Map<Family, Map<IptablesTable, Set<string> | 'all'>>();
  #isEverything = false;

  /** Events were lost, or an inspection failed: anything may have changed. */
  get isEverything(): boolean {
    return this.#isEverything;
  }

  of(family: Family): SuspectChains {
    return this.#chains.get(family) ?? NO_CHAINS;
  }

  note(event: Pick<NftEvent, 'kind' | 'family' | 'table' | 'name'>): void {
    const table = IPTABLES_TABLES.find((name) => name === event.table);
    if (table === undefined) return;
    const family = event.family === 'ip' ? 'IPv4' : 'IPv6';
    const tables = this.#chains.get(family) ?? new Map<IptablesTable, Set<string> | 'all'>();
    this.#chains.set(family, tables);
    const known = tables.get(table) ?? new Set<string>();
    if (known === 'all') return;
    known.add(event.name);
    const isAll = event.kind === 'table' || known.size > MOST_SINGLE_CHAINS;
    tables.set(table, isAll ? 'all' : known);
  }

  noteEverything(): void {
    this.#isEverything = true;
  }
}
