/** A chain that a packet traverses, with those of its rules that may match it. */
export interface ChainVisit<Rule> {
  readonly chain: string;
  readonly rules: readonly Rule[];
  /** Index of the hook it is reached from. */
  readonly stage: number;
  /** Jumps from the hook to the chain, by the longest path. */
  readonly depth: number;
}

export interface Chains<Rule> {
  /** Undefined: there is no such chain, or the packet cannot be in it. */
  readonly rulesOf: (chain: string) => readonly Rule[] | undefined;
  /** Whether the rule may match the packet. It visits the chain that the rule jumps to, if any. */
  readonly concerns: (rule: Rule, visit: (chain: string) => boolean) => boolean;
}

/**
 * The chains that a packet traverses from these hooks on, in order; without those that have no
 * sentence.
 */
export function walkChains<Rule>(
  hooks: readonly string[],
  chains: Chains<Rule>,
): ChainVisit<Rule>[] {
  const visits = new Map<string, ChainVisit<Rule>>();
  /** Gives whether the chain has a rule for the packet. */
  const visit = (chain: string, stage: number, depth: number): boolean => {
    const known = visits.get(chain);
    if (known && known.depth >= depth) return true;
    const all = chains.rulesOf(chain);
    if (all === undefined) return false;
    const rules: Rule[] = [];
    // Entered first, so that it comes before the chains that it jumps to.
    visits.set(chain, { chain, rules, stage: known?.stage ?? stage, depth });
    const next = (target: string) => visit(target, stage, depth + 1);
    for (const rule of all) if (chains.concerns(rule, next)) rules.push(rule);
    if (rules.length === 0) visits.delete(chain);
    return rules.length > 0;
  };
  for (const [stage, hook] of hooks.entries()) visit(hook, stage, 0);
  return [...visits.values()];
}
