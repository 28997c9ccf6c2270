import type { Desired } from '../../dataplanes/contract.ts';
import type { Forwarding } from '../../forwarding/model.ts';
import { nftablesPages } from '../../modes/pages/nftables-pages.ts';
import type { Page } from '../../modes/pages/page.ts';
import { forwarderWords } from './forwarder-words.ts';

/** The rules, with those that hand over, and in words what the forwarder does then. */
export function userspacePages(desired: Desired, isWanted: (row: Forwarding) => boolean): Page[] {
  const tables = { ...desired, facts: { ...desired.facts, handsOver: true } as const };
  return nftablesPages(tables, isWanted).map((page) => {
    const isTcp = page.forwarding.id.protocol === 'TCP';
    return {
      ...page,
      table: `${page.table}, ${isTcp ? 'behind' : 'without'} the forwarder`,
      words: forwarderWords(page.forwarding),
    };
  });
}
