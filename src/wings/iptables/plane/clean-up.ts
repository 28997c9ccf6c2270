import type { IptablesTable } from '../../../linux/xtables/iptables-programs.ts';
import {
  FIREWALL,
  FORWARD,
  isRowChain,
  MARK_MASQUERADE,
  POSTROUTING,
  PROXY_FIREWALL,
} from './chain-names.ts';
import { PRESENT_CHAINS } from './iptables-fixed-parts.ts';
import type { KernelView } from './kernel-view.ts';
import { ownJumps, tableChanges } from './repair-iptables.ts';
import type { RuleText } from './rule.ts';
import { TableChange } from './table-change.ts';

interface ChainName {
  readonly table: IptablesTable;
  readonly name: string;
}

/** All of our chains that do not depend on rows, except for those the kubelet has created too. */
const FIRST_CHAINS: readonly ChainName[] = [
  ...PRESENT_CHAINS.filter(({ name }) => name !== FIREWALL),
  { table: 'nat', name: POSTROUTING },
  { table: 'filter', name: FORWARD },
];

interface CleanUp {
  readonly first: readonly TableChange[];
  readonly rowChains: readonly string[];
  readonly last: TableChange;
}

/** The steps that remove everything that is there: a jump is deleted before its target. */
export function cleanUp(view: KernelView): CleanUp {
  const first = tableChanges();
  // As often as it is there: one that is left keeps the chain it leads to.
  for (const { table, chain, rule } of ownJumps(view)) first[table].deleteRule(chain, rule);
  for (const { table, chain, rule } of ipvsJumps(view)) first[table].deleteRule(chain, rule);
  for (const { table, name } of [...FIRST_CHAINS, ...IPVS_CHAINS]) {
    if (view[table].has(name)) first[table].removeChain(name);
  }
  const last = new TableChange('nat');
  if (view.nat.has(MARK_MASQUERADE)) last.removeChain(MARK_MASQUERADE);
  const rowChains = [...view.nat.keys()].filter(isRowChain);
  return { first: [first.filter, first.nat, first.mangle], rowChains, last };
}

/** All that `cleanUp` removes: our chains with their rules, and the rules that jump into them. */
export function countOurs(view: KernelView): { readonly chains: number; readonly rules: number } {
  const fixed = [...FIRST_CHAINS, ...IPVS_CHAINS, { table: 'nat', name: MARK_MASQUERADE } as const];
  const rows = [...view.nat.keys()]
    .filter(isRowChain)
    .map((name) => ({ table: 'nat', name }) as const);
  const contents = [...fixed, ...rows].flatMap(({ table, name }) => {
    const rules = view[table].get(name);
    return rules === undefined ? [] : [rules.length];
  });
  const inside = contents.reduce((total, count) => total + count, 0);
  const jumps = ownJumps(view).length + ipvsJumps(view).length;
  return { chains: contents.length, rules: inside + jumps };
}

export function hasOurs(view: KernelView): boolean {
  return FIRST_CHAINS.some(({ table, name }) => view[table].has(name));
}

/** Chains that kube-proxy has only in its ipvs mode. */
const IPVS_CHAINS: readonly { readonly table: IptablesTable; readonly name: string }[] = [
  { table: 'filter', name: 'KUBE-NODE-PORT' },
  { table: 'filter', name: 'KUBE-SOURCE-RANGES-FIREWALL' },
  { table: 'filter', name: 'KUBE-IPVS-FILTER' },
  { table: 'filter', name: 'KUBE-IPVS-OUT-FILTER' },
  { table: 'nat', name: 'KUBE-NODE-PORT' },
  { table: 'nat', name: 'KUBE-LOAD-BALANCER' },
];

const BASES = ['INPUT', 'FORWARD', 'OUTPUT'];
/** In ipvs mode the rules that lead to the firewall chain are other ones. */
const TARGETS = [...IPVS_CHAINS.map(({ name }) => name), PROXY_FIREWALL];
const FIREWALL_COMMENT = 'kube-proxy firewall rules';

/** The rules of built-in chains by which packets get there. */
function ipvsJumps(
  view: KernelView,
): readonly { readonly table: 'filter'; readonly chain: string; readonly rule: RuleText }[] {
  return BASES.flatMap((chain) =>
    (view.filter.get(chain) ?? [])
      .filter((rule) => isJump(rule))
      .map((rule) => ({ table: 'filter', chain, rule }) as const),
  );
}

function isJump(rule: RuleText): boolean {
  const target = TARGETS.find((name) => rule.endsWith(`-j ${name}`));
  if (target === undefined) return false;
  return target !== PROXY_FIREWALL || rule.includes(FIREWALL_COMMENT);
}
