import { TableChange } from './table-change.ts';

/** More at once cost the nft backend the square of their number. */
const CHAINS_AT_ONCE = 600;

/** Changes of chains of rows that need not be done at once. */
export function inSteps<Chain>(
  chains: readonly Chain[],
  add: (change: TableChange, chain: Chain) => void,
): readonly TableChange[] {
  const changes: TableChange[] = [];
  for (let from = 0; from < chains.length; from += CHAINS_AT_ONCE) {
    const change = new TableChange('nat');
    for (const chain of chains.slice(from, from + CHAINS_AT_ONCE)) add(change, chain);
    changes.push(change);
  }
  return changes;
}
