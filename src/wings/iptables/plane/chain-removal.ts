import { PlaneError } from '../../../dataplanes/contract.ts';
import type { IptablesErrorCode } from '../../../linux/xtables/iptables-error.ts';
import { inSteps } from './chain-steps.ts';
import type { TableChange } from './table-change.ts';

/** Those that lead to others go before them. */
const ORDER = ['KUBE-FW-', 'KUBE-EXT-', 'KUBE-SVC-', 'KUBE-SVL-', 'KUBE-SEP-'];

const REJECTED: IptablesErrorCode = 'IPTABLES_REFUSED';

/**
 * Removes chains of rows one after the other where not all can be deleted at once: a rule of
 * another process may jump to one. That one stays, with the chains it jumps to itself. Returns the
 * rejections.
 */
export async function removeChains(
  names: readonly string[],
  commit: (changes: readonly TableChange[]) => Promise<void>,
): Promise<PlaneError[]> {
  try {
    await commit(chainRemovals(names));
    return [];
  } catch (error) {
    if (!(error instanceof PlaneError) || error.code !== REJECTED) throw error;
    if (names.length <= 1) return [error];
  }
  const ordered = inOrder(names);
  const middle = Math.ceil(ordered.length / 2);
  const first = await removeChains(ordered.slice(0, middle), commit);
  return [...first, ...(await removeChains(ordered.slice(middle), commit))];
}

/** Removes chains of rows that only each other's rules jump to. */
function chainRemovals(names: readonly string[]): readonly TableChange[] {
  return inSteps(inOrder(names), (change, name) => change.removeChain(name));
}

function inOrder(names: readonly string[]): readonly string[] {
  return ORDER.flatMap((prefix) => names.filter((name) => name.startsWith(prefix)));
}
