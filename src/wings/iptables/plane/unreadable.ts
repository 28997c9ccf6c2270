import type { Family } from '../../../forwarding/model.ts';
import type { Netlink } from '../../../linux/netlink/netlink-socket.ts';
import { NftConnection } from '../../../linux/nftables/nft-connection.ts';
import { isIncompatible } from '../../../linux/xtables/iptables-error.ts';
import { IPTABLES_TABLES } from '../../../linux/xtables/iptables-programs.ts';
import { countOurs } from './clean-up.ts';
import type { KernelView } from './kernel-view.ts';

const TABLE_FAMILY = { IPv4: 'ip', IPv6: 'ip6' } as const;

/**
 * If iptables cannot read a table, another process has written it with `nft`. If it has none of our
 * chains, there is nothing of ours to remove: the result is `nothing` then.
 */
export async function orNothing<T>(
  read: {
    readonly family: Family;
    readonly openNetlink: (kind: 'requests') => Netlink;
    readonly nothing: T;
  },
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isIncompatible(error)) throw error;
    using connection = new NftConnection(read.openNetlink('requests'));
    if (await hasOurChains(connection, read.family)) throw error;
    return read.nothing;
  }
}

/** By their names, which the kernel gives whatever is in them. */
export async function hasOurChains(connection: NftConnection, family: Family): Promise<boolean> {
  const tables = [];
  for (const name of IPTABLES_TABLES) {
    const chains = await connection.chains({ family: TABLE_FAMILY[family], name });
    tables.push([name, new Map(chains.map((chain) => [chain.name, []]))]);
  }
  const view = Object.fromEntries(tables) as KernelView;
  return countOurs(view).chains > 0;
}
