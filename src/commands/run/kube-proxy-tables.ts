import type { Netlink } from '../../linux/netlink/netlink-socket.ts';
import { NftConnection } from '../../linux/nftables/nft-connection.ts';
import type { TableRef } from '../../linux/nftables/nft-objects.ts';
import type { Logger } from '../../log/logger.ts';

/** The names of kube-proxy's tables in nftables mode. */
const TABLES: readonly TableRef[] = [
  { family: 'ip', name: 'kube-proxy' },
  { family: 'ip6', name: 'kube-proxy' },
];

export interface KubeProxyTablesOptions {
  readonly openNetlink: () => Netlink;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

/**
 * Deletes the tables of the kube-proxy that ran here before. Call it after the first sync: until
 * then they forward packets, and from then on nothing keeps them up to date.
 */
export async function removeKubeProxyTables(options: KubeProxyTablesOptions): Promise<void> {
  using connection = new NftConnection(options.openNetlink());
  try {
    const left: TableRef[] = [];
    for (const table of TABLES) {
      if ((await connection.chains(table)).length > 0) left.push(table);
    }
    if (left.length === 0) return;
    const batch = connection.begin();
    for (const table of left) batch.deleteTable(table);
    await connection.commit(batch);
    options.log.info({ tables: left.length }, 'removed the nftables tables of kube-proxy');
  } catch (error) {
    // Leftover tables are no reason to stop.
    options.log.warn(
      `cannot delete the nftables tables of kube-proxy, which nothing keeps up to date: ${String(error)}; delete them: nft delete table ip kube-proxy`,
    );
  }
}
