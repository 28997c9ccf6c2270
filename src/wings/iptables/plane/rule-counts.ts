import type { Family } from '../../../forwarding/model.ts';
import type { IptablesTable } from '../../../linux/xtables/iptables-programs.ts';
import { firewallRules, fixedChains, nodePortJumps } from './iptables-fixed-parts.ts';
import type { RowRules } from './iptables-row.ts';
import type { Setting } from './setting.ts';
import type { TableChange } from './table-change.ts';

export type CountedTable = Exclude<IptablesTable, 'mangle'>;

export const COUNTED_TABLES: readonly CountedTable[] = ['filter', 'nat'];

/** How many rules we have in one table, for metrics. */
export interface RuleCount {
  readonly table: CountedTable;
  readonly family: Family;
  readonly total: number;
  /** For the last transaction. */
  readonly lastWritten: number;
}

/** Rules that are there whatever the rows are, as kube-proxy counts them: without the jumps to them. */
export function fixedRuleCount(table: CountedTable, setting: Setting, family: Family): number {
  const chains = fixedChains(setting).filter((chain) => chain.table === table);
  const rules = chains.reduce((sum, chain) => sum + chain.rules.length, 0);
  const perFamily = table === 'nat' ? nodePortJumps : firewallRules;
  return rules + perFamily(setting, family).length;
}

/** How many rules of rows one family has, kept while rows are written: reading them costs too much. */
export class RuleCounts {
  readonly #totals: Record<CountedTable, number> = { filter: 0, nat: 0 };
  readonly #lastWritten: Record<CountedTable, number> = { filter: 0, nat: 0 };

  total(table: CountedTable): number {
    return this.#totals[table];
  }

  /** For the last transaction that had any. */
  lastWritten(table: CountedTable): number {
    return this.#lastWritten[table];
  }

  /** Everything was read again. */
  begin(read: RuleCounts): void {
    for (const table of COUNTED_TABLES) this.#totals[table] = read.total(table);
  }

  add(rules: RowRules): void {
    this.#change(rules, 1);
  }

  subtract(rules: RowRules): void {
    this.#change(rules, -1);
  }

  written(changes: readonly TableChange[]): void {
    for (const table of COUNTED_TABLES) {
      const own = changes.filter((change) => change.table === table);
      this.#lastWritten[table] = own.reduce((sum, change) => sum + change.newRuleCount, 0);
    }
  }

  #change({ chains, dispatch }: RowRules, sign: 1 | -1): void {
    for (const rules of chains.values()) this.#totals.nat += sign * rules.length;
    for (const { table } of dispatch) this.#totals[table] += sign;
  }
}
