import { openNetlink } from '../../netlink/socket.ts';
import { NftConnection } from '../../nftables/connection.ts';
import { withoutCounts } from '../../nftables/listed-expressions.ts';
import type { TableFamily } from '../../nftables/protocol.ts';
import { NETLINK_NETFILTER } from '../../nftables/protocol.ts';
import { IPTABLES_TABLES } from '../../xtables/iptables-programs.ts';

/** The version whose objects are written: others encode the same text differently. */
export const IMITATED_VERSION = '1.8.9';

export function connect(): NftConnection {
  return new NftConnection(openNetlink({ protocol: NETLINK_NETFILTER }));
}

/** All chains of the tables, with what kind they are and the bytes of their rules, in order. */
export async function listTables(family: TableFamily): Promise<string[]> {
  using connection = connect();
  const lines: string[] = [];
  for (const name of IPTABLES_TABLES) {
    const table = { family, name };
    const chains = await connection.chains(table);
    for (const chain of chains.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      lines.push(`${name} ${chain.name} ${chain.base ?? ''}`);
      for (const { expressions } of await connection.listedRules({ table, chain: chain.name })) {
        lines.push(`  ${Buffer.from(withoutCounts(expressions), 'latin1').toString('hex')}`);
      }
    }
  }
  return lines;
}
