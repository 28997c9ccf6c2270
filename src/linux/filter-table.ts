/**
 * A table of netfilter in the form that nf_tables and iptables-legacy have in common: enough to tell
 * which chains at hooks of the kernel can drop a packet.
 */
export interface FilterTable {
  readonly by: 'nf_tables' | 'iptables-legacy';
  /** As `nft` names families: `ip`, `ip6`, `inet`, `bridge`. */
  readonly family: string;
  readonly name: string;
  readonly chains: readonly FilterChain[];
  readonly rules: readonly FilterRule[];
}

export interface FilterChain {
  readonly name: string;
  /** Undefined: reached only by jumps. */
  readonly base?: { readonly hook: string; readonly policy: 'accept' | 'drop' };
}

export interface FilterRule {
  readonly chain: string;
  /** `handle 12`, or `rule 3` where there are no handles. */
  readonly id: string;
  readonly verdict?: 'accept' | 'drop' | 'reject';
  readonly jumpsTo?: string;
  /** As its program prints it. Undefined: not read. */
  readonly text?: string;
  /** Names of interfaces that it is limited to; none: it is not, or not by name. */
  readonly interfaces: readonly string[];
}

/** The rules of a chain, and of all chains that it reaches by jumps. */
export function rulesReachedFrom({ rules }: FilterTable, chain: string): readonly FilterRule[] {
  const byChain = Map.groupBy(rules, (rule) => rule.chain);
  const reached = new Set([chain]);
  // A set is iterated with what is added to it meanwhile.
  for (const name of reached) {
    for (const { jumpsTo } of byChain.get(name) ?? []) {
      if (jumpsTo !== undefined) reached.add(jumpsTo);
    }
  }
  return [...reached].flatMap((name) => byChain.get(name) ?? []);
}
