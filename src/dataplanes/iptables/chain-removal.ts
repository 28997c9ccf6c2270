import { TableChange } from './table-change.ts';

/** More at once cost the nft backend the square of their number. */
const CHAINS_AT_ONCE = 600;
/** Those that lead to others go before them. */
const ORDER = ['KUBE-FW-', 'KUBE-EXT-', 'KUBE-SVC-', 'KUBE-SVL-', 'KUBE-SEP-'];

/** Removes chains of rows to which nothing leads but each other. */
export function chainRemovals(names: readonly string[]): TableChange[] {
  const ordered = ORDER.flatMap((prefix) => names.filter((name) => name.startsWith(prefix)));
  const changes: TableChange[] = [];
  for (let from = 0; from < ordered.length; from += CHAINS_AT_ONCE) {
    const change = new TableChange('nat');
    for (const name of ordered.slice(from, from + CHAINS_AT_ONCE)) change.removeChain(name);
    changes.push(change);
  }
  return changes;
}
