import { type Netlink, openNetlink } from '../linux/netlink/netlink-socket.ts';
import { NETLINK_NETFILTER, NFNLGRP_NFTABLES } from '../linux/nftables/nftables-protocol.ts';

/** Events of 50,000 elements deleted at once must fit, or which ones they were is lost. */
const EVENT_BUFFER_BYTES = 16 * 1024 * 1024;

export function openNetfilter(kind: 'requests' | 'events'): Netlink {
  if (kind === 'requests') return openNetlink({ protocol: NETLINK_NETFILTER });
  return openNetlink({
    protocol: NETLINK_NETFILTER,
    groups: [NFNLGRP_NFTABLES],
    receiveBufferBytes: EVENT_BUFFER_BYTES,
  });
}
