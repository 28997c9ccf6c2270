import type { IptablesTable } from '../../../linux/xtables/iptables-programs.ts';
import type { KernelView } from './kernel-view.ts';
import { PROXY_FIREWALL } from './names.ts';
import type { RuleText } from './rule.ts';

/** Chains that kube-proxy has only in its ipvs mode. */
export const IPVS_CHAINS: readonly { readonly table: IptablesTable; readonly name: string }[] = [
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
export function ipvsJumps(
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
