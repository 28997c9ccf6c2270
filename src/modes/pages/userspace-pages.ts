import type { Desired } from '../../dataplanes/contract.ts';
import type { Forwarding } from '../../forwarding/model.ts';
import { forwarderWords } from './forwarder-words.ts';
import { nftablesPages } from './nftables-pages.ts';
import type { Page } from './page.ts';

/** The rules with their hand-over, and in words what the forwarder does then. */
export function userspacePages(desired: Desired, isWanted: (row: Forwarding) => boolean): Page[] {
  const { facts, rows } = desired;
  const handingOver = { facts: { ...facts, handsOver: true }, rows } as const;
  return nftablesPages(handingOver, isWanted).map((page) => {
    const isTcp = page.forwarding.id.protocol === 'TCP';
    return {
      ...page,
      table: `${page.table}, ${isTcp ? 'behind' : 'without'} the forwarder`,
      words: forwarderWords(page.forwarding),
    };
  });
}
