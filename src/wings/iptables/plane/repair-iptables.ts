import type { Differences } from '../../../dataplanes/differences.ts';
import type { Family } from '../../../forwarding/model.ts';
import type { IptablesTable } from '../../../linux/xtables/iptables-programs.ts';
import { FIREWALL, SERVICES } from './chain-names.ts';
import { isNodePortJump } from './iptables-comparison.ts';
import {
  ALL_JUMPS,
  firewallRules,
  fixedChains,
  isOwnJump,
  type Jump,
  jumpsFor,
  nodePortJumps,
  PRESENT_CHAINS,
} from './iptables-fixed-parts.ts';
import { equalRules } from './iptables-transaction.ts';
import type { KernelView } from './kernel-view.ts';
import type { RuleText } from './rule.ts';
import type { Setting } from './setting.ts';
import { TableChange } from './table-change.ts';

export type TableChanges = Readonly<Record<IptablesTable, TableChange>>;

export function tableChanges(): TableChanges {
  return {
    mangle: new TableChange('mangle'),
    filter: new TableChange('filter'),
    nat: new TableChange('nat'),
  };
}

/** Writes missing and different parts that do not depend on rows. */
export function repairFixedParts(
  changes: TableChanges,
  repaired: {
    readonly family: Family;
    readonly view: KernelView;
    readonly setting: Setting;
    readonly differences: Differences;
  },
): void {
  const { family, view, setting, differences } = repaired;
  const differ = (table: IptablesTable, object: string, isThere: boolean): void =>
    differences.add(() => ({
      kind: isThere ? 'different' : 'missing',
      object: `${family} ${table} ${object}`,
    }));
  for (const { table, name } of PRESENT_CHAINS) {
    if (view[table].has(name)) continue;
    differ(table, name, false);
    changes[table].make(name);
  }
  for (const { table, name, rules } of fixedChains(setting)) {
    const found = view[table].get(name);
    if (equalRules(found, rules)) continue;
    if (found === undefined) differ(table, name, false);
    else {
      const object = `${family} ${table} ${name}`;
      differences.add(() => ({ kind: 'different', object, wanted: rules, found }));
    }
    changes[table].fill(name, rules);
  }
  for (const rule of firewallRules(setting, family)) {
    if (view.filter.get(FIREWALL)?.includes(rule)) continue;
    differ('filter', `${FIREWALL} ${rule}`, false);
    changes.filter.append(FIREWALL, rule);
  }
  const { missing, unwanted } = repairJumps(changes, view, setting);
  for (const { table, chain, rule } of missing) differ(table, `${chain} ${rule}`, false);
  for (const { table, chain, rule } of unwanted) {
    const object = `${family} ${table} ${chain} ${rule}`;
    differences.add(() => ({ kind: 'foreign', object }));
  }
  repairLastRules(changes.nat, { ...repaired, differ });
}

/** Adds the ways into our chains that are missing, and deletes those for others than are served. */
export function repairJumps(
  changes: TableChanges,
  view: KernelView,
  { facts }: Setting,
): { readonly missing: readonly Jump[]; readonly unwanted: readonly Jump[] } {
  const wanted = jumpsFor(facts);
  const isThere = ({ table, chain, rule }: Jump) => view[table].get(chain)?.includes(rule) === true;
  // The last given is to be the first met, and `insert` keeps the order that it is given.
  const missing = wanted.filter((jump) => !isThere(jump)).toReversed();
  const isWanted = new Set(wanted.map(jumpId));
  const unwanted = ownJumps(view).filter((jump) => !isWanted.has(jumpId(jump)));
  for (const { table, chain, rule } of missing) changes[table].insert(chain, rule);
  for (const { table, chain, rule } of unwanted) changes[table].deleteRule(chain, rule);
  return { missing, unwanted };
}

/** Every rule that leads into our chains, as often as it is there. */
export function ownJumps(view: KernelView): readonly Jump[] {
  const bases = new Map(ALL_JUMPS.map((jump) => [`${jump.table} ${jump.chain}`, jump]));
  return [...bases.values()].flatMap(({ table, chain }) =>
    (view[table].get(chain) ?? []).map((rule) => ({ table, chain, rule })).filter(isOwnJump),
  );
}

function jumpId({ table, chain, rule }: Jump): string {
  return `${table} ${chain} ${rule}`;
}

function repairLastRules(
  change: TableChange,
  repaired: {
    readonly family: Family;
    readonly view: KernelView;
    readonly setting: Setting;
    readonly differ: (table: IptablesTable, object: string, isThere: boolean) => void;
  },
): void {
  const found = repaired.view.nat.get(SERVICES) ?? [];
  const wanted = nodePortJumps(repaired.setting, repaired.family);
  const jumps = found.filter((rule) => isNodePortJump('nat', SERVICES, rule));
  const areLast = equalRules(found.slice(found.length - wanted.length), wanted);
  if (areLast && jumps.length === wanted.length) return;
  repaired.differ('nat', `${SERVICES} ${wanted[0] ?? 'without node ports'}`, jumps.length > 0);
  replaceLastRules(change, jumps, wanted);
}

export function replaceLastRules(
  change: TableChange,
  found: readonly RuleText[],
  wanted: readonly RuleText[],
): void {
  for (const rule of found) change.deleteRule(SERVICES, rule);
  for (const rule of wanted) change.appendLast(SERVICES, rule);
}
