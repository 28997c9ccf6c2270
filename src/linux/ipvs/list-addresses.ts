import { dump } from '../netlink/netlink-exchange.ts';
import { openNetlink } from '../netlink/netlink-socket.ts';
import { applyChange, emptyTables, readRouteChange } from '../route/link-tables.ts';
import { addressesQuestion, linksQuestion, NETLINK_ROUTE } from '../route/route-protocol.ts';

/** An address of the machine, and the name of its link. */
export interface ListedAddress {
  readonly address: string;
  readonly interface: string;
}

/** The addresses of the machine now. One that changes meanwhile may be left out. */
export async function listAddresses(): Promise<readonly ListedAddress[]> {
  using netlink = openNetlink({ protocol: NETLINK_ROUTE });
  const tables = emptyTables();
  for (const question of [linksQuestion(1), addressesQuestion(2)]) {
    await dump(netlink, question, (message) => {
      const change = readRouteChange(message);
      if (change !== undefined) applyChange(tables, change);
    });
  }
  return [...tables.addresses.values()].map(({ address, linkIndex }) => ({
    address,
    interface: tables.links.get(linkIndex)?.name ?? '',
  }));
}
