import { dump } from '../netlink/netlink-exchange.ts';
import { openNetlink } from '../netlink/netlink-socket.ts';
import type { MachineLink } from './link-codec.ts';
import { applyChange, emptyTables, readRouteChange } from './link-tables.ts';
import { linksQuestion, NETLINK_ROUTE, RTNLGRP_LINK } from './route-protocol.ts';
import { type WatchOptions, watchTables } from './watch-tables.ts';

/** Reports all links in the order of their indexes, and the full list again after each change. */
export async function watchLinks(
  onChange: (links: readonly MachineLink[]) => void,
  signal: AbortSignal,
  options?: WatchOptions,
): Promise<void> {
  await watchTables(
    {
      groups: [RTNLGRP_LINK],
      questions: [linksQuestion],
      rows: ({ links }) => [...links.values()].sort((a, b) => a.index - b.index),
      onChange,
    },
    signal,
    options,
  );
}

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
