import type { NftBatch } from '../../linux/nftables/batch.ts';
import type { TableFamily } from '../../linux/nftables/nftables-protocol.ts';
import { rulesText, writeRules } from '../shared/nft/structure.ts';
import { nodePortAddressKeys, wantedChains } from './nftables-fixed-parts.ts';
import { TABLES } from './nftables-sets.ts';
import { knownClasses, type TableState } from './state.ts';
import type { TableFacts } from './table-facts.ts';
import { SHAPES } from './table-shape.ts';

/** Rewrites the chains that differ, and no other. */
export function reconfigure(
  batch: NftBatch,
  change: {
    readonly family: TableFamily;
    readonly before: TableFacts;
    readonly after: TableFacts;
    readonly state: TableState;
  },
): void {
  const { family, before, after, state } = change;
  const table = TABLES[family];
  const classes = knownClasses(state);
  const old = new Map(
    wantedChains({ facts: before, classes }, family).map((chain) => [chain.name, rulesText(chain)]),
  );
  for (const chain of wantedChains({ facts: after, classes }, family)) {
    if (old.get(chain.name) === rulesText(chain)) continue;
    batch.flushChain(table, chain.name);
    writeRules(batch, SHAPES[family], chain);
  }
  const oldAddresses = new Set(nodePortAddressKeys(before, family));
  const newAddresses = new Set(nodePortAddressKeys(after, family));
  for (const key of oldAddresses.difference(newAddresses)) {
    batch.deleteElement(table, 'nodeport-ips', { key });
  }
  for (const key of newAddresses.difference(oldAddresses)) {
    batch.addElement(table, 'nodeport-ips', { key });
  }
}
