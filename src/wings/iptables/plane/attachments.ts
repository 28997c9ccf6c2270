import type { Attachment, NodeFacts } from '../../../dataplanes/contract.ts';
import { FAMILIES, type Family } from '../../../forwarding/model.ts';
import { listRules } from '../../../linux/xtables/save.ts';
import { SERVICES } from './chain-names.ts';
import { jumpsFor } from './iptables-fixed-parts.ts';

/** Where packets of others, and those of the machine itself, come to the Services. */
const CHAINS = ['PREROUTING', 'OUTPUT'] as const;

/** Starts a program for each chain. */
export async function readAttachments(
  program: string,
  facts: NodeFacts,
): Promise<readonly Attachment[]> {
  return await Promise.all(
    FAMILIES.flatMap((family) =>
      CHAINS.map((chain) => readJump({ program, family, chain, facts })),
    ),
  );
}

async function readJump(expected: {
  readonly program: string;
  readonly family: Family;
  readonly chain: string;
  readonly facts: NodeFacts;
}): Promise<Attachment> {
  const { program, family, chain, facts } = expected;
  const table = 'nat';
  const rules = (await listRules({ program, family, table, chain }))?.get(chain) ?? [];
  const wanted = jumpsFor(facts).filter(
    (jump) => jump.table === table && jump.chain === chain && jump.rule.includes(SERVICES),
  );
  const isAttached = wanted.every(({ rule }) => rules.includes(rule));
  return { place: 'iptables', name: `${family} ${table} ${chain}`, isAttached };
}
