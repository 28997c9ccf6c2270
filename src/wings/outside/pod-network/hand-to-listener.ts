import { randomBytes } from 'node:crypto';
import type { Netlink } from '../../../linux/netlink/netlink-socket.ts';
import * as x from '../../../linux/nftables/expressions.ts';
import { NftConnection } from '../../../linux/nftables/nft-connection.ts';

const CHAIN = 'to-pods';
/** Before chains that translate: nothing else has to see these packets. */
const PRIORITY = -150;
const TCP = '\x06';
const LOOPBACK = 'lo'.padEnd(16, '\0');
const LOCAL = '\x02\0\0\0';

/**
 * Gives TCP to pods, which routes send to the loopback interface, to a listener of this process. The
 * addresses of pods are in no table that the kernel counts as the machine's own, so that connections
 * to addresses of this machine are left alone. The kernel deletes the table with its process.
 */
export async function handOver(netlink: Netlink, port: number): Promise<Disposable> {
  const connection = new NftConnection(netlink);
  try {
    const batch = connection.begin();
    const name = `fairlead-pods-${randomBytes(4).toString('hex')}`;
    const table = { family: 'inet', name } as const;
    batch.addOwnedTable(table, 'connections to pods through the API server; ends with its process');
    const base = { type: 'filter', hook: 'prerouting', priority: PRIORITY } as const;
    batch.addChain(table, { name: CHAIN, base });
    batch.addRule(table, {
      chain: CHAIN,
      expressions: [
        x.loadInterfaceName(0),
        x.compare(0, 'equal', LOOPBACK),
        x.loadL4Protocol(0),
        x.compare(0, 'equal', TCP),
        x.loadAddressType('daddr', 0),
        x.compare(0, 'different', LOCAL),
        ...x.giveToListener(port, 0),
      ],
      fingerprint: '',
    });
    await connection.commit(batch);
    return connection;
  } catch (error) {
    connection[Symbol.dispose]();
    throw error;
  }
}
