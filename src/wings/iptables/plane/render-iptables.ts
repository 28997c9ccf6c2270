import type { Family, Forwarding } from '../../../forwarding/model.ts';
import { IPTABLES_TABLES, type IptablesTable } from '../../../linux/xtables/iptables-programs.ts';
import { FIREWALL, SERVICES } from './chain-names.ts';
import {
  firewallRules,
  fixedChains,
  jumpsFor,
  nodePortJumps,
  PRESENT_CHAINS,
} from './iptables-fixed-parts.ts';
import { rulesOf } from './iptables-row.ts';
import type { RuleText } from './rule.ts';
import type { Abilities, Setting } from './setting.ts';

/** The chains of each table with their rules, ours and those that lead to them. */
export type RenderedTables = Readonly<Record<IptablesTable, Map<string, RuleText[]>>>;

/** The abilities of nearly all kernels. */
export const USUAL_ABILITIES: Abilities = { hasAccounts: true, dropsInvalid: true };

/** All rules of a family, as on a machine without any others. */
export function renderedTables(
  rows: Iterable<Forwarding>,
  setting: Setting,
  family: Family,
): RenderedTables {
  const tables: RenderedTables = { mangle: new Map(), filter: new Map(), nat: new Map() };
  const chain = (table: IptablesTable, name: string): RuleText[] => {
    const known = tables[table].get(name);
    if (known) return known;
    const rules: RuleText[] = [];
    tables[table].set(name, rules);
    return rules;
  };
  for (const jump of jumpsFor(setting.facts).toReversed())
    chain(jump.table, jump.chain).push(jump.rule);
  for (const { table, name } of PRESENT_CHAINS) chain(table, name);
  for (const { table, name, rules } of fixedChains(setting)) chain(table, name).push(...rules);
  chain('filter', FIREWALL).push(...firewallRules(setting, family));
  for (const row of rows) {
    if (row.id.family !== family) continue;
    const { chains, dispatch } = rulesOf(row, setting);
    for (const each of dispatch) chain(each.table, each.chain).push(each.rule);
    for (const [name, rules] of chains) chain('nat', name).push(...rules);
  }
  chain('nat', SERVICES).push(...nodePortJumps(setting, family));
  return tables;
}

const BUILT_IN = ['PREROUTING', 'INPUT', 'FORWARD', 'OUTPUT', 'POSTROUTING'];

/** Input for `iptables-restore --noflush`, in the order in which `iptables-save` prints it. */
export function restoreText(tables: RenderedTables): string {
  return IPTABLES_TABLES.map((table) => tableText(table, tables[table])).join('');
}

function tableText(table: IptablesTable, chains: ReadonlyMap<string, readonly RuleText[]>): string {
  const own = [...chains.keys()].filter((name) => !BUILT_IN.includes(name)).sort();
  const all = [...BUILT_IN.filter((name) => chains.has(name)), ...own];
  const rules = all.flatMap((name) => (chains.get(name) ?? []).map((rule) => `-A ${name} ${rule}`));
  const lines = [`*${table}`, ...own.map((name) => `:${name} - [0:0]`), ...rules, 'COMMIT'];
  return `${lines.join('\n')}\n`;
}
