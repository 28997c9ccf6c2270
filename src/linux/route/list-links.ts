import { dump } from '../netlink/exchange.ts';
import { openNetlink } from '../netlink/socket.ts';
import type { MachineLink } from './link-codec.ts';
import { linksQuestion, NETLINK_ROUTE } from './protocol.ts';
import { applyChange, emptyTables, readRouteChange } from './tables.ts';

/** Attempts when the list changes while it is read. */
const MOST_TORN_LISTS = 10;

/** The links of the machine now, in the order of their indexes. */
export async function listLinks(): Promise<readonly MachineLink[]> {
  using netlink = openNetlink({ protocol: NETLINK_ROUTE });
  for (let sequence = 1; ; sequence++) {
    const tables = emptyTables();
    const { consistent } = await dump(netlink, linksQuestion(sequence), (message) => {
      const change = readRouteChange(message);
      if (change !== undefined) applyChange(tables, change);
    });
    if (!consistent && sequence < MOST_TORN_LISTS) continue;
    return [...tables.links.values()].sort((a, b) => a.index - b.index);
  }
}
