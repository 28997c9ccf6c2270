import { elementName } from '../../../../dataplanes/shared/nft/element-text.ts';
import { objectText } from '../../../../dataplanes/shared/rule-events.ts';
import { openNetlink } from '../../../../linux/netlink/netlink-socket.ts';
import type { NetlinkMessage } from '../../../../linux/netlink/reader.ts';
import type { NftEvent } from '../../../../linux/nftables/nftables-events.ts';
import { readMarkRule } from '../../../../linux/route/mark-rules.ts';
import {
  NETLINK_ROUTE,
  RTM_DELROUTE,
  RTM_DELRULE,
  RTNLGRP_IPV4_ROUTE,
  RTNLGRP_IPV4_RULE,
  RTNLGRP_IPV6_ROUTE,
  RTNLGRP_IPV6_RULE,
} from '../../../../linux/route/route-protocol.ts';
import { isSetName, setSpec, TABLE_NAME, TABLES } from './capture-sets.ts';
import { CAPTURE_PROTOCOL, CAPTURE_TABLE } from './routing.ts';

/** Of `rtm_table` in a message about a route. */
const ROUTE_TABLE_OFFSET = 4;

export function concernsUs({ table }: NftEvent): boolean {
  return table === TABLE_NAME;
}

/** The objects that an event is about, described. */
export function objectsOf(event: NftEvent): string[] {
  const { family, name } = event;
  if (event.kind !== 'elements' || !isSetName(name)) return [objectText(event)];
  const change = event.change === 'new' ? 'added' : 'deleted';
  const spec = setSpec(family, name);
  return event.elements.map(({ key }) => `${change} ${elementName(TABLES[family], spec, key)}`);
}

/**
 * Calls back when a rule or route of ours was deleted, by whatever process, or events were lost. The
 * kernel does not name the process: whether it is missing is for the caller to find out.
 */
export async function listenToRouting(onDeleted: () => void, signal: AbortSignal): Promise<void> {
  using events = openNetlink({
    protocol: NETLINK_ROUTE,
    groups: [RTNLGRP_IPV4_RULE, RTNLGRP_IPV6_RULE, RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE],
  });
  const listener = {
    onMessage(message: NetlinkMessage) {
      if (isDeletionOfOurs(message)) onDeleted();
    },
    onOverrun: onDeleted,
  };
  await events.listen(listener, signal);
}

function isDeletionOfOurs(message: NetlinkMessage): boolean {
  if (message.type === RTM_DELRULE) return readMarkRule(message)?.protocol === CAPTURE_PROTOCOL;
  // Not decoded: a node may have hundreds of thousands of routes.
  return message.type === RTM_DELROUTE && message.body[ROUTE_TABLE_OFFSET] === CAPTURE_TABLE;
}
