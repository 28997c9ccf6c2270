import { readAccount } from '../../../linux/iptables/nfacct.ts';
import type { Netlink } from '../../../linux/netlink/netlink-socket.ts';
import { INVALID_ACCOUNT, LOCALHOST_ACCOUNT } from './setting.ts';

/** Packets that named rules matched; undefined where the kernel has no such counter. */
export interface PacketCounts {
  readonly invalidDropped: number | undefined;
  readonly localhostAccepted: number | undefined;
}

export async function readPacketCounts(
  openNetlink: (kind: 'requests') => Netlink,
): Promise<PacketCounts> {
  using netlink = openNetlink('requests');
  return {
    invalidDropped: await readAccount(netlink, INVALID_ACCOUNT),
    localhostAccepted: await readAccount(netlink, LOCALHOST_ACCOUNT),
  };
}
