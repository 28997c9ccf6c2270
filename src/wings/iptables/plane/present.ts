import type { KernelView } from './kernel-view.ts';
import type { Dispatch, RowRules } from './row.ts';
import type { RuleText } from './rule.ts';
import { dispatchId } from './transaction.ts';

/** Which of the rules that were written for a row the kernel has. */
export function presentOf(view: KernelView, given: readonly (RowRules | undefined)[]): RowRules {
  const chains = new Map<string, readonly RuleText[]>();
  const dispatch = new Map<string, Dispatch>();
  for (const rules of given) {
    for (const name of rules?.chains.keys() ?? []) {
      const found = view.nat.get(name);
      if (found) chains.set(name, found);
    }
    for (const each of rules?.dispatch ?? []) {
      if (view[each.table].get(each.chain)?.includes(each.rule)) {
        dispatch.set(dispatchId(each), each);
      }
    }
  }
  return { chains, dispatch: [...dispatch.values()] };
}
