import type { Desired } from '../../dataplanes/contract.ts';
import { TABLE_OF_FAMILY } from '../../dataplanes/nftables/nftables-chains.ts';
import { TABLE_NAME, TABLES } from '../../dataplanes/nftables/nftables-sets.ts';
import { tableContent } from '../../dataplanes/nftables/table-content.ts';
import type { TableFacts } from '../../dataplanes/nftables/table-facts.ts';
import { SHAPES } from '../../dataplanes/nftables/table-shape.ts';
import { ruleSentence } from '../../dataplanes/shared/nft/nft-rule.ts';
import { fingerprint } from '../../dataplanes/shared/nft/structure.ts';
import { NftConnection } from '../../linux/nftables/nft-connection.ts';
import { openNetfilter } from '../netfilter.ts';
import type { Account, ModeProof } from './mode-proof.ts';

/** `factsOf`: what the chains of the mode depend on. */
export function nftablesProof(factsOf: (desired: Desired) => TableFacts): ModeProof {
  return {
    usualTcpProbe: 'syn',
    isOurs: ({ table }) => table === TABLE_NAME,
    account: async ({ desired, family }) => {
      const sentences = sentencesOf({ ...desired, facts: factsOf(desired) }, family);
      return await byHandle(sentences, family);
    },
  };
}

type Sentences = ReadonlyMap<string, string>;

/** By chain and fingerprint. A chain may draw with the same rule several times. */
function sentencesOf(
  desired: Parameters<typeof tableContent>[0],
  family: keyof typeof TABLE_OF_FAMILY,
): Sentences {
  const of = TABLE_OF_FAMILY[family];
  const found = new Map<string, string>();
  for (const { name, rules } of tableContent(desired, of).chains) {
    for (const rule of rules) {
      const key = `${name} ${fingerprint(SHAPES[of], rule)}`;
      if (!found.has(key)) found.set(key, ruleSentence(rule));
    }
  }
  return found;
}

/** The kernel names rules by their handles, and keeps the fingerprints. */
async function byHandle(
  sentences: Sentences,
  family: keyof typeof TABLE_OF_FAMILY,
): Promise<Account> {
  using connection = new NftConnection(openNetfilter('requests'));
  const rules = await connection.rules(TABLES[TABLE_OF_FAMILY[family]]);
  const words = new Map(
    rules.map(({ chain, handle, fingerprint: print }) => [
      `${chain} ${handle}`,
      sentences.get(`${chain} ${print}`),
    ]),
  );
  return ({ table, chain, handle }) =>
    table === TABLE_NAME ? words.get(`${chain} ${handle}`) : undefined;
}
