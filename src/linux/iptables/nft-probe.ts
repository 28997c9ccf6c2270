import { type NftConnection, NftRefusal } from '../nftables/connection.ts';
import type { TableFamily } from '../nftables/protocol.ts';
import type { IptablesTable } from '../xtables/iptables-programs.ts';
import { ruleExpressions } from './rule-expressions.ts';

const CHAIN = 'FAIRLEAD-PROBE';
const NO_TABLE = 'fairlead-probe-ends-here';
const LAST = 'the end of the probe';

export interface ProbeRule {
  readonly table: IptablesTable;
  readonly rule: string;
}

/**
 * Tests whether the kernel accepts our encoding of these rules; returns why not, or undefined. The
 * transaction ends with an operation that must fail, so it is never committed.
 */
export async function probeRules(
  connection: NftConnection,
  family: TableFamily,
  rules: readonly ProbeRule[],
): Promise<string | undefined> {
  const batch = connection.begin();
  for (const { table, rule } of rules) {
    const written = ruleExpressions(rule, family);
    if (!written) return `no netlink encoding for the rule ${rule}`;
    const ref = { family, name: table };
    batch.own(rule);
    batch.addTable(ref);
    batch.addChain(ref, { name: CHAIN });
    batch.addListedRule(ref, { chain: CHAIN, ...written, place: 'last' });
  }
  batch.own(LAST);
  batch.deleteTable({ family, name: NO_TABLE });
  try {
    await connection.commit(batch);
  } catch (error) {
    if (!(error instanceof NftRefusal)) throw error;
    return error.owner === LAST ? undefined : error.message;
  }
  throw new RangeError(`the table ${NO_TABLE}, which must not exist, exists`);
}
