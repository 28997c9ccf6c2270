import type { NftConnection } from '../nftables/connection.ts';
import type { ListedRulesOf } from '../nftables/decode.ts';
import { COUNTER, withoutCounts } from '../nftables/listed-expressions.ts';
import type { TableRef } from '../nftables/objects.ts';
import type { Binary } from '../nftables/userdata.ts';

/** The end of a rule is where it leads to, which few others of a long chain have too. */
const TAIL_BYTES = 40;

/** The handles of wanted rules of a chain, in order, by the bytes that they were written with. */
export async function findRules(
  connection: NftConnection,
  of: { readonly table: TableRef; readonly chain: string; readonly wanted: readonly Binary[] },
): Promise<Map<Binary, bigint[]>> {
  const found = new Map<Binary, bigint[]>(of.wanted.map((expressions) => [expressions, []]));
  const isWanted = tailFilter(of.wanted);
  const { table, chain } = of;
  for (const rule of await connection.listedRules({ table, chain, ...isWanted })) {
    found.get(withoutCounts(rule.expressions))?.push(rule.handle);
  }
  return found;
}

/** Making a string of each of thousands of rules costs more than the kernel needs to list them. */
function tailFilter(wanted: readonly Binary[]): Pick<ListedRulesOf, 'isWanted'> {
  // One that leads nowhere ends with what it has counted.
  if (wanted.some((expressions) => expressions.endsWith(COUNTER))) return {};
  const tails = new Set(wanted.map((expressions) => expressions.slice(-TAIL_BYTES)));
  return {
    isWanted: (bytes) =>
      tails.has(bytes.toString('latin1', Math.max(0, bytes.length - TAIL_BYTES))),
  };
}
