import type { Family } from '../../forwarding/model.ts';
import { IPTABLES_TABLES, type IptablesTable } from '../../linux/iptables/programs.ts';
import type { NftEvent } from '../../linux/nftables/events.ts';

/** Chains that somebody touched, by table; `all`: too many of them, or the table itself went. */
export type SuspectChains = ReadonlyMap<IptablesTable, ReadonlySet<string> | 'all'>;

/** To read one chain costs a process; from so many on the whole table costs less. */
const MOST_SINGLE_CHAINS = 4;
const NO_CHAINS: SuspectChains = new Map();

/** What somebody else has changed since it was last looked at; events only say which chain it was. */
export class Suspects {
  readonly #chains = new Map<Family, Map<IptablesTable, Set<string> | 'all'>>();
  #isEverything = false;

  /** Nobody knows what was touched. */
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
